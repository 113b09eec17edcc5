import type { FastifyReply } from "fastify";

/**
 * Aborted when nobody waits for the reply any more. (The framework's own signal of a request ends
 * with its body, which has been read by the time that a route is reached.)
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return gone.signal;
}
