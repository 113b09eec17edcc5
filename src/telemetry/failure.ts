import type { BaseLogger } from "pino";

import { type PembaError, reasonOf } from "../base/error.ts";

/**
 * Logs an error that the client did not cause. An internal error is logged with all details. An
 * outage outside the process is logged as one line with its reason, because it fails every request
 * while it lasts. The rest of the cause goes to the debug level.
 */
export function logFailure(
  logger: Pick<BaseLogger, "error" | "warn" | "debug">,
  error: PembaError,
): void {
  if (error.kind === "internal") {
    logger.error({ err: faultFields(error.cause ?? error) }, "request failed");
    return;
  }
  logger[isNews(error) ? "warn" : "debug"](
    { code: error.code },
    `request failed: ${error.kind === "unavailable" ? reasonOf(error) : error.plainMessage}`,
  );
  if (error.cause !== undefined)
    logger.debug({ err: faultFields(error.cause) }, "why the request failed");
}

/**
 * An open circuit is logged when it opens, so the requests that it fails are not. A missing method
 * is a mistake of the client.
 */
function isNews({ code }: PembaError): boolean {
  return code !== "CIRCUIT_BREAKER" && code !== "NOT_IMPLEMENTED";
}

/** The log fields of a thrown value. */
export interface FaultFields {
  readonly type: string;
  readonly message: string;
  /** The code that the system or the database gave. */
  readonly code?: string;
  readonly stack: string;
}

/**
 * Describes a thrown value without the values of a request. Fields of database errors that hold
 * values (the failing row, parameters) are left out. So are values quoted in messages about
 * unreadable values.
 */
function faultFields(thrown: unknown): FaultFields {
  if (!(thrown instanceof Error)) {
    return { type: typeof thrown, message: "a value was thrown that is not an error", stack: "" };
  }
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
  const message =
    code !== undefined && dataException.test(code) ? unquoted(thrown) : thrown.message;
  return {
    type: thrown.name,
    message,
    ...(code !== undefined && { code }),
    stack: [`${thrown.name}: ${message}`, ...framesOf(thrown)].join("\n"),
  };
}

/** SQLSTATEs of invalid values. */
const dataException = /^22...$/;

function unquoted({ message }: Error): string {
  return message.replaceAll(/"[^]*"/g, '"…"');
}

function framesOf({ stack = "" }: Error): readonly string[] {
  return stack.split("\n").filter((line) => /^ +at /.test(line));
}
