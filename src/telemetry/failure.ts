import type { BaseLogger } from "pino";

import type { PembaError } from "../base/error.ts";
import { faultFields } from "./fault-fields.ts";

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
