import type { FastifyReply, FastifyRequest } from "fastify";

import { errorOf, PembaError } from "../base/error.ts";
import { statusOf } from "../base/status.ts";

/** Sends any error as the error body; one that is our own fault is logged, and kept from the client. */
export function replyWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = frameworkFault(error) ?? errorOf(error);
  const status = statusOf[known.kind];
  if (status.http >= 500) request.log.error({ err: error }, "request failed");
  void reply
    .status(status.http)
    .send({ code: status.grpc, message: known.message, details: known.details });
}

/** What the HTTP framework itself refuses before a route is reached. */
function frameworkFault(error: unknown): PembaError | undefined {
  // The framework gives a status to an error of a shape check, too, which is told as it is.
  if (error instanceof PembaError) return undefined;
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  const status = error.statusCode;
  if (status === 413) {
    return new PembaError("PAYLOAD_TOO_LARGE", "body: is too large, expected at most 4 MiB", {
      cause: error,
    });
  }
  if (typeof status !== "number" || status < 400 || status >= 500) return undefined;
  const sentence = error.message.slice(0, 1).toLowerCase() + error.message.slice(1);
  return new PembaError("VALIDATION", sentence, { cause: error });
}
