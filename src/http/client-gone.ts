import type { FastifyReply } from "fastify";

import type { PembaError } from "../base/error.ts";
import type { HttpApp } from "./app.ts";

declare module "fastify" {
  interface FastifyReply {
    /** Who waits for it, once somebody has asked. */
    caller: AbortController | null;
  }
}

/** To be called before routes are added that ask whether their client is gone. */
export function knowCallers(app: HttpApp): void {
  app.decorateReply("caller", null);
}

/**
 * Aborted when nobody waits any more for a reply that is not whole, with the reason where there is one
 * to tell. (The framework's own signal of a request ends with its body, which has been read by the
 * time that a route is reached.)
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  return callerOf(reply).signal;
}

/** From now on nobody waits for the reply: who looks for it may end, and what is sent is the reason. */
export function giveUp(reply: FastifyReply, reason: PembaError): void {
  callerOf(reply).abort(reason);
}

function callerOf(reply: FastifyReply): AbortController {
  if (reply.caller !== null) return reply.caller;
  const caller = new AbortController();
  reply.caller = caller;
  reply.raw.on("close", () => {
    // Who has got the whole answer has not left, and an abortion takes longer than most checks.
    if (!reply.raw.writableFinished) caller.abort();
  });
  return caller;
}
