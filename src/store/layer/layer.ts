import type { Store } from "../store.ts";
import { mapOperations } from "./make-operations.ts";
import {
  type Answers,
  type Method,
  type Operation,
  type OperationName,
  operations,
  type QuestionOperation,
  type Requests,
} from "./operation.ts";

/** Does an operation of any name: `next` does it without the layer. */
export type Around = <Request, Answer>(
  operation: Operation<Request>,
  request: Request,
  next: (request: Request) => Promise<Answer>,
) => Promise<Answer>;

export type AroundQuestion = <Request, Answer>(
  question: QuestionOperation<Request, Answer>,
  request: Request,
  next: (request: Request) => Promise<Answer>,
) => Promise<Answer>;

/** Does the operation of one name. */
type AroundOnly<N extends OperationName> = (
  request: Requests[N],
  next: (request: Requests[N]) => Promise<Answers[N]>,
) => Promise<Answers[N]>;

/**
 * Something that stands around the operations of a store: those of a kind, or those that it names,
 * which are then not of their kind for it. Operations of other kinds pass it by.
 */
export interface Layer {
  readonly question?: AroundQuestion;
  readonly lookup?: AroundQuestion;
  readonly read?: Around;
  readonly change?: Around;
  readonly only?: { readonly [N in OperationName]?: AroundOnly<N> };
}

/** The same store with a layer around it. */
export function withLayer(store: Store, layer: Layer): Store {
  return layered(store, [layer]);
}

/** The same store with layers around it, the innermost first. A layer that an operation passes by costs it nothing. */
export function layered(store: Store, layers: readonly Layer[]): Store {
  return mapOperations(store, (name, method) =>
    layers.reduce((inner, layer) => wrapped(layer, name, inner), method),
  );
}

function wrapped<N extends OperationName>(layer: Layer, name: N, method: Method<N>): Method<N> {
  const next = (request: Requests[N]): Promise<Answers[N]> => method(...request);
  const only = layer.only?.[name];
  if (only !== undefined) return (...request) => only(request, next);
  const operation = operations[name];
  switch (operation.kind) {
    case "question":
    case "lookup": {
      const around = layer[operation.kind];
      return around === undefined ? method : (...request) => around(operation, request, next);
    }
    case "read":
    case "change": {
      const around = layer[operation.kind];
      return around === undefined ? method : (...request) => around(operation, request, next);
    }
  }
}
