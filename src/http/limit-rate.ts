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
 * Refuses requests beyond a limit that other transports share: all clients have one key, and the
 * limit counts them. The plugin awaits several promises for each answer, so it is only called to
 * refuse a request.
 */
export function limitRate(
  app: HttpApp,
  rateLimit: RateLimit,
  isOpen: (request: FastifyRequest) => boolean,
): void {
  void app.register(fastifyRateLimit, {
    // Route hooks run after server hooks, and do not run without a route.
    global: false,
    max: rateLimit.perSecond,
    timeWindow: 1_000,
    keyGenerator: () => "all",
    store: storeOf(rateLimit),
    errorResponseBuilder: () => tooManyRequests(rateLimit),
    // All errors of this kind get the header elsewhere.
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

/** A class, because the plugin creates its store itself. */
function storeOf(rateLimit: RateLimit) {
  return class Store {
    incr(_key: string, counted: Counted, timeWindow: number): void {
      counted(null, { current: rateLimit.take(), ttl: timeWindow });
    }

    /** Called for routes with options of their own, which have the same limit. */
    child(): Store {
      return this;
    }
  };
}
