import { fieldError, PembaError } from "../base/error.ts";
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
 * Follows the changes of a tenant, until the caller has enough or the server stops. Then whoever has
 * had no message yet gets one without changes, whose token resumes where the stream began.
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
  { start, messages }: ChangeStream,
  draining: AbortSignal,
): AsyncGenerator<ChangeMessage> {
  let hasToken = false;
  for await (const message of messages) {
    yield message;
    hasToken = true;
  }
  if (!draining.aborted) return;
  if (!hasToken) yield { snapToken: start, changes: [] };
  throw new PembaError("UNAVAILABLE", "the server is stopping, resume with the last snap token");
}

/** The store names the field as most requests have it. */
function tokenError(error: unknown): unknown {
  if (!(error instanceof PembaError)) return error;
  if (error.code !== "INVALID_SNAP_TOKEN" && error.code !== "SNAP_TOKEN_EXPIRED") return error;
  const problem = error.sentence.slice(error.sentence.indexOf(": ") + 2);
  return fieldError(error.code, "snap_token", problem);
}
