import type { BaseLogger } from "pino";

import type { PembaError } from "../base/error.ts";

/**
 * Logs an error that is not the client's: one of our own with all that is known of it, one of the
 * world around as a line, since all requests meet it while it lasts. Debug has what lies behind.
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
    `request failed: ${error.sentence}`,
  );
  if (error.cause !== undefined)
    logger.debug({ err: faultFields(error.cause) }, "why the request failed");
}

/**
 * That the circuit is open is logged when it opens, and is the answer to every request until it is
 * closed; what is not there was asked for by mistake.
 */
function isNews({ code }: PembaError): boolean {
  return code !== "CIRCUIT_BREAKER" && code !== "NOT_IMPLEMENTED";
}

/** What the log says of something that was thrown. */
export interface FaultFields {
  readonly type: string;
  readonly message: string;
  /** As the system or the database names the fault. */
  readonly code?: string;
  readonly stack: string;
}

/**
 * What is known of a fault, without the values of a request. A database gives them in fields of
 * their own (the failing row, the parameters), which are left out, and quotes one in the message
 * when it cannot be read as what it should be.
 */
function faultFields(thrown: unknown): FaultFields {
  if (!(thrown instanceof Error)) {
    return { type: typeof thrown, message: "something was thrown that is no error", stack: "" };
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

/** SQLSTATEs of values that are not what they should be. */
const dataException = /^22...$/;

function unquoted({ message }: Error): string {
  return message.replaceAll(/"[^]*"/g, '"…"');
}

function framesOf({ stack = "" }: Error): readonly string[] {
  return stack.split("\n").filter((line) => /^ +at /.test(line));
}
