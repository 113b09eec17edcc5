import type { FastifyReply, FastifyRequest } from "fastify";

import { type ErrorKind, errorOf, PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import { statusOf } from "../base/status.ts";
import { logFailure } from "../telemetry/failure.ts";
import { lateness } from "./deadline.ts";
import { errorBody, isTransient, retryAfterSeconds, statusBody } from "./error-body.ts";
import { jsonFormOf } from "./json-form.ts";
import { withUnknownFields } from "./unknown-field.ts";
import { closeUnread } from "./unread-body.ts";

/** The `WWW-Authenticate` header, as RFC 6750 defines it. */
const challenges: Readonly<Partial<Record<ErrorKind, string>>> = {
  unauthenticated: "Bearer",
  permission_denied: 'Bearer error="insufficient_scope"',
};

/**
 * Sends an error as the error body. Logs errors that the client did not cause, with their cause.
 */
export function replyWithError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = knownError(error, request, reply);
  void withStatus(reply, known).send(bodyOf(known, request));
}

/** The same for a stream, in which an error replaces an item. */
export function replyWithStreamError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const known = knownError(error, request, reply);
  void withStatus(reply, known).send({ error: bodyOf(known, request) });
}

function bodyOf(error: PembaError, request: FastifyRequest): unknown {
  return jsonFormOf(request) === "protobuf" ? statusBody(error) : errorBody(error);
}

function withStatus(reply: FastifyReply, error: PembaError): FastifyReply {
  const { kind } = error;
  if (isTransient(error)) reply.header("retry-after", retryAfterSeconds);
  const challenge = challenges[kind];
  if (challenge !== undefined) reply.header("www-authenticate", challenge);
  closeUnread(reply);
  return reply.status(statusOf[kind].http);
}

function knownError(error: unknown, request: FastifyRequest, reply: FastifyReply): PembaError {
  const known = withUnknownFields(frameworkFault(error, request) ?? errorOf(error), request);
  noteFailure(known, reply);
  return known;
}

/**
 * Records how a request failed. Logs errors that the client did not cause. A deadline that the
 * client set counts as caused by the client.
 */
export function noteFailure(error: PembaError, reply: FastifyReply): void {
  const { request } = reply;
  const isOwnDeadline = error === lateness(reply);
  request.failure = isOwnDeadline ? "CANCELLED" : error.code;
  if (!isOwnDeadline && statusOf[error.kind].http >= 500) logFailure(request.log, error);
}

/** Converts errors of the HTTP framework from before a route is reached. */
function frameworkFault(error: unknown, request: FastifyRequest): PembaError | undefined {
  // The framework also gives a status to an error of a shape check, which is already in its final
  // form.
  if (error instanceof PembaError) return undefined;
  if (!(error instanceof Error) || !("statusCode" in error)) return undefined;
  const status = error.statusCode;
  if (status === 413) {
    return new PembaError("PAYLOAD_TOO_LARGE", "body: is too large, expected at most 4 MiB", {
      cause: error,
    });
  }
  if (typeof status !== "number" || status < 400 || status >= 500) return undefined;
  if ("code" in error && error.code === "FST_ERR_BAD_URL") {
    const path = request.url.split("?", 1)[0] ?? "";
    const problem = "has a `%` without two hexadecimal digits of UTF-8 after it";
    return new PembaError("VALIDATION", `path: ${quote(path)} ${problem}`, { cause: error });
  }
  const message = error.message.slice(0, 1).toLowerCase() + error.message.slice(1);
  return new PembaError("VALIDATION", message, { cause: error });
}
