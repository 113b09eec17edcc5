import type { Argument, Context } from "../gen/base/v1/context_pb.ts";
import type { RawQuestion } from "../service/request-check.ts";
import type { RawContext } from "../service/request-context.ts";
import { decodeAttributes } from "./data.ts";
import type { CallContext } from "./method.ts";

/** Decodes the common part of all questions about permissions, in the form of the service. */
export function decodeQuestion(
  request: {
    readonly tenantId: string;
    readonly metadata?: RawQuestion["metadata"];
    readonly context?: Context | undefined;
    readonly arguments?: readonly Argument[];
  },
  { signal }: CallContext,
): RawQuestion {
  return {
    tenantId: request.tenantId,
    metadata: request.metadata,
    context: request.context && decodeContext(request.context),
    arguments: request.arguments?.map(({ type }) => type.value?.name),
    signal,
  };
}

function decodeContext({ tuples, attributes, data }: Context): RawContext {
  return { tuples, attributes: decodeAttributes(attributes, "context.attributes"), data };
}

/**
 * Decodes the common part of all requests for a page. A page size of 0 means that none was given.
 */
export function decodePage(request: {
  readonly pageSize: number;
  readonly continuousToken: string;
}): { readonly pageSize: number | undefined; readonly continuousToken: string } {
  const { pageSize, continuousToken } = request;
  return { pageSize: pageSize === 0 ? undefined : pageSize, continuousToken };
}
