import { randomUUID } from "node:crypto";

/** The header with the id of a request, in requests and answers of both transports. */
export const requestIdHeader = "x-request-id";

/** Allows no characters that could break a log line or imitate a part of one. */
const usable = /^[\w.:=+/@-]{1,128}$/;

/** The id of a request in the log: the one that the client sent, if it is usable, or a new one. */
export function requestIdOf(given: string | readonly string[] | undefined): string {
  return typeof given === "string" && usable.test(given) ? given : randomUUID();
}

/** The trace id in the W3C header of the client. */
export function traceIdOf(traceparent: string | readonly string[] | undefined): string | undefined {
  if (typeof traceparent !== "string") return undefined;
  const traceId = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(traceparent)?.[1];
  return traceId === "0".repeat(32) ? undefined : traceId;
}
