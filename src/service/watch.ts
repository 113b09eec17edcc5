import { fieldError, PembaError } from "../base/error.ts";
import type { SnapToken } from "../base/tuple.ts";
import type { ChangeMessage } from "../store/change.ts";
import type { ChangeStream } from "../store/store.ts";
import { type Absent, parseSnapToken, parseTenantId } from "./field.ts";
import type { Service } from "./service.ts";

export interface WatchRequest {
  readonly tenantId: string;
  /** The state after which the changes begin. The current state if absent. */
  readonly snapToken?: string | Absent;
  /** Aborted when the caller has left. The messages then end. */
  readonly signal: AbortSignal;
}

/**
 * Streams the changes of a tenant, until the caller leaves or the server stops. If the server ends
 * a stream, the client has a token to resume with: if necessary, a last message without changes
 * carries it.
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
  { start, messages, delivered }: ChangeStream,
  draining: AbortSignal,
): AsyncGenerator<ChangeMessage> {
  let last: SnapToken | undefined;
  try {
    for await (const message of messages) {
      yield message;
      last = message.snapToken;
    }
  } catch (error) {
    // Not the latest state: this one can be proved to exist on a standby that takes over.
    if (last === undefined && isUnavailable(error)) yield { snapToken: start, changes: [] };
    throw error;
  }
  if (!draining.aborted) return;
  const token = delivered();
  if (token !== last) yield { snapToken: token, changes: [] };
  throw new PembaError("UNAVAILABLE", "the server is stopping, resume with the last snap token");
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PembaError && error.code === "UNAVAILABLE";
}

/** Replaces the field name of the store by the one of this request. */
function tokenError(error: unknown): unknown {
  if (!(error instanceof PembaError)) return error;
  if (error.code !== "INVALID_SNAP_TOKEN" && error.code !== "SNAP_TOKEN_EXPIRED") return error;
  const problem = error.plainMessage.slice(error.plainMessage.indexOf(": ") + 2);
  return fieldError(error.code, "snap_token", problem);
}
