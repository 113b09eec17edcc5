import { fastifyRateLimit } from "@fastify/rate-limit";
import type { FastifyRequest, onRequestAsyncHookHandler } from "fastify";

import { type RateLimit, tooManyRequests } from "../auth/rate-limit.ts";
import type { HttpApp } from "./app.ts";

const noHeaders = {
  "x-ratelimit-limit": false,
  "x-ratelimit-remaining": false,
  "x-ratelimit-reset": false,
};

/**
 * Refuses requests that are too many, with a limit that other transports count with too: there is one
 * key for all clients, and how many requests are in is asked of the limit. The plugin takes several
 * promises for its answer, so it is asked only where the limit has nothing left: to refuse.
 */
export function limitRate(
  app: HttpApp,
  rateLimit: RateLimit,
  isOpen: (request: FastifyRequest) => boolean,
): void {
  void app.register(fastifyRateLimit, {
    // Hooks of routes come after those of the server, and are not there where there is no route.
    global: false,
    max: rateLimit.perSecond,
    timeWindow: 1_000,
    keyGenerator: () => "all",
    store: storeOf(rateLimit),
    errorResponseBuilder: () => tooManyRequests(rateLimit),
    // What stands in all errors of its kind, the reply to it has.
    addHeaders: { ...noHeaders, "retry-after": false },
    addHeadersOnExceeding: noHeaders,
  });
  app.after(() => {
    const refuse: onRequestAsyncHookHandler = app.rateLimit();
    app.addHook("onRequest", (request, reply, done) => {
      const isRefused = !isOpen(request) && rateLimit.take() > rateLimit.perSecond;
      if (isRefused) return refuse.call(app, request, reply);
      done();
      return undefined;
    });
  });
}

type Counted = (error: null, result: { readonly current: number; readonly ttl: number }) => void;

/** A class, since the plugin makes its store itself. */
function storeOf(rateLimit: RateLimit) {
  return class Store {
    incr(_key: string, counted: Counted, timeWindow: number): void {
      counted(null, { current: rateLimit.take(), ttl: timeWindow });
    }

    /** For routes with options of their own: the limit is the same. */
    child(): Store {
      return this;
    }
  };
}
