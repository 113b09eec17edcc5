import { fieldError, PembaError } from "../base/error.ts";
import type { SnapToken } from "../base/tuple.ts";
import type { ChangeMessage } from "../store/change.ts";
import type { ChangeStream } from "../store/store.ts";
import { type Absent, parseSnapToken, parseTenantId } from "./field.ts";
import type { Service } from "./service.ts";

export interface WatchRequest {
  readonly tenantId: string;
  /** The state after which the changes begin; the present one when absent. */
  readonly snapToken?: string | Absent;
  /** Aborted when nobody waits for changes any more: then the messages end. */
  readonly signal: AbortSignal;
}

/**
 * Follows the changes of a tenant, until the caller has enough or the server stops. A stream that
 * the server ends has had a token to resume with: where needed it comes in a last message, which is
 * without changes.
 */
export async function watch(service: Service, request: WatchRequest): Promise<ChangeStream> {
  const tenant = parseTenantId(request.tenantId);
  const after = parseSnapToken(request.snapToken, "snap_token");
  const { draining } = service.health;
  const signal = AbortSignal.any([request.signal, draining]);
  try {
    const stream = await service.store.changes.follow(tenant, { after, signal });
    return { ...stream, messages: untilDrained(stream, draining) };
  } catch (error) {
    throw tokenError(error);
  }
}

async function* untilDrained(
  { start, messages, told }: ChangeStream,
  draining: AbortSignal,
): AsyncGenerator<ChangeMessage> {
  let last: SnapToken | undefined;
  try {
    for await (const message of messages) {
      yield message;
      last = message.snapToken;
    }
  } catch (error) {
    // Not the latest state: this one may be proved to be kept where another server has taken over.
    if (last === undefined && isUnavailable(error)) yield { snapToken: start, changes: [] };
    throw error;
  }
  if (!draining.aborted) return;
  const token = told();
  if (token !== last) yield { snapToken: token, changes: [] };
  throw new PembaError("UNAVAILABLE", "the server is stopping, resume with the last snap token");
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PembaError && error.code === "UNAVAILABLE";
}

/** The store names the field as most requests have it. */
function tokenError(error: unknown): unknown {
  if (!(error instanceof PembaError)) return error;
  if (error.code !== "INVALID_SNAP_TOKEN" && error.code !== "SNAP_TOKEN_EXPIRED") return error;
  const problem = error.sentence.slice(error.sentence.indexOf(": ") + 2);
  return fieldError(error.code, "snap_token", problem);
}
