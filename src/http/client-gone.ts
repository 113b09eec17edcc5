import type { FastifyReply } from "fastify";

import type { PembaError } from "../base/error.ts";

const callers = new WeakMap<FastifyReply, AbortController>();

/**
 * Aborted when nobody waits for the reply any more, with the reason where there is one to tell. (The
 * framework's own signal of a request ends with its body, which has been read by the time that a
 * route is reached.)
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  return callerOf(reply).signal;
}

/** From now on nobody waits for the reply: who looks for it may end, and what is sent is the reason. */
export function giveUp(reply: FastifyReply, reason: PembaError): void {
  callerOf(reply).abort(reason);
}

function callerOf(reply: FastifyReply): AbortController {
  const known = callers.get(reply);
  if (known !== undefined) return known;
  const caller = new AbortController();
  callers.set(reply, caller);
  reply.raw.once("close", () => caller.abort());
  return caller;
}
