import type { Store } from "../store.ts";
import { type Layer, layered } from "./layer.ts";

/**
 * The order of all layers around an engine, the outermost first. A request goes down through it.
 *
 * - `streams` counts the streams of changes. It stands around `time`: a stream that does not begin in
 *   time gives its place back.
 * - `time` ends what takes too long, wherever below it waits.
 * - `trees` lets few explanations and expansions be made at a time in the process (see `LargeWork`). One that
 *   waits takes no place of other questions.
 * - `forwarding` stands before the queues: what another instance answers takes no place here.
 * - `changes`, `reads` and `questions` are the fair queues, each for its kind of operation.
 * - `observation` stands below the queues: it measures the work without the wait.
 * - `answerCache` stands before `batching`: an answer that it has needs no statement.
 * - `batching` asks the engine.
 * - `interpreter` measures an engine that interprets all plans.
 */
const order = [
  "streams",
  "time",
  "trees",
  "forwarding",
  "changes",
  "reads",
  "questions",
  "observation",
  "answerCache",
  "batching",
  "interpreter",
] as const;

/** Each layer that is wanted. */
export type Layers = { readonly [Name in (typeof order)[number]]?: Layer | undefined };

/** The same store with layers around it, in their order. */
export function withLayers(store: Store, layers: Layers): Store {
  return layered(
    store,
    order.toReversed().flatMap((name) => layers[name] ?? []),
  );
}
