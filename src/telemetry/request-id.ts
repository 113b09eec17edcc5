import { randomUUID } from "node:crypto";

/** Where a request says how it is called, and its answer does, on both transports. */
export const requestIdHeader = "x-request-id";

/** Nothing that would break a line of the log, or be taken for another part of one. */
const usable = /^[\w.:=+/@-]{1,128}$/;

/** The name of a request in the log: the one that its client gave it, if that is one, or a new one. */
export function requestIdOf(given: string | readonly string[] | undefined): string {
  return typeof given === "string" && usable.test(given) ? given : randomUUID();
}

/** The trace that a client says the request belongs to, in its W3C header. */
export function traceIdOf(traceparent: string | readonly string[] | undefined): string | undefined {
  if (typeof traceparent !== "string") return undefined;
  const traceId = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(traceparent)?.[1];
  return traceId === "0".repeat(32) ? undefined : traceId;
}
