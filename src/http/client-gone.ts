import type { FastifyReply } from "fastify";

import type { PembaError } from "../base/error.ts";
import type { HttpApp } from "./app.ts";

declare module "fastify" {
  interface FastifyReply {
    /** Aborts when the client leaves. Created on first use. */
    client: AbortController | null;
  }
}

/** Must be called before routes are added that use `clientGone`. */
export function knowCallers(app: HttpApp): void {
  app.decorateReply("client", null);
}

/**
 * A signal that is aborted when the client has left before the end of its reply. Its reason is the
 * error to send, if there is one. (The framework's own signal of a request ends with the request
 * body, which has been read before a route is called.)
 */
export function clientGone(reply: FastifyReply): AbortSignal {
  return clientOf(reply).signal;
}

/** Gives up the reply: the work for it may end, and `reason` is sent. */
export function giveUp(reply: FastifyReply, reason: PembaError): void {
  clientOf(reply).abort(reason);
}

/** What aborts the signal of `clientGone`. */
export function clientOf(reply: FastifyReply): AbortController {
  if (reply.client !== null) return reply.client;
  const client = new AbortController();
  reply.client = client;
  // It may have left while its token was looked at, or while its request waited.
  if (reply.raw.closed) {
    client.abort();
    return client;
  }
  reply.raw.on("close", () => {
    // A client with the complete answer has not left, and aborting takes longer than most checks.
    if (!reply.raw.writableFinished) client.abort();
  });
  return client;
}
