import { fastifyRateLimit } from "@fastify/rate-limit";
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from "fastify";

import { type Admission, admit } from "../auth/admission.ts";
import { type Credential, permitScope, permitTenant } from "../auth/credential.ts";
import { scopeOf } from "../auth/operation-scopes.ts";
import { type RateLimit, tooManyRequests } from "../auth/rate-limit.ts";
import { assert } from "../base/assert.ts";
import type { Scope } from "../base/scope.ts";
import type { HttpApp } from "./app.ts";
import { replyWithError } from "./error-reply.ts";
import { operationOf } from "./observe.ts";
import { consolePaths } from "./routes/console.ts";
import { healthPaths } from "./routes/health.ts";
import { referencePaths } from "./routes/reference.ts";
import { takeInRequests } from "./take-in.ts";

const pagePaths = new Set([...referencePaths, ...consolePaths]);

declare module "fastify" {
  interface FastifyRequest {
    /** The rights of the token. Null before the token is verified, and for open routes. */
    credential: Credential | null;
  }
  interface FastifyContextConfig {
    /** The scope that the token needs for the route. */
    scope?: Scope | undefined;
  }
}

/**
 * Checks the rate limit and the token before anything of a request is read, including its body,
 * also without a route. Must be called before routes are added. Each route must belong to a scope
 * and name its tenant. Creating and listing tenants check the tenant themselves.
 */
export function admitRequests(app: HttpApp, admission: Admission): void {
  limitRate(app, admission.rateLimit, isOpen);
  app.decorateRequest("credential", null);
  app.addHook("onRoute", (route) => {
    if (healthPaths.has(route.url) || pagePaths.has(route.url)) return;
    // The route of the plugin that answers preflights. No handler is behind it.
    if (route.url === "*") return;
    const scope = scopeOf(operationOf(route));
    assert(route.url.startsWith("/v1/tenants/"), `${route.url} says of which tenant it is`);
    route.config = { ...route.config, scope };
  });
  if (admission.needsToken) authenticateRequests(app, admission);
  // After the token, so that a token takes nothing from the share of a tenant that it is not for.
  app.after(() => takeInRequests(app, admission.intake, isOpen));
}

function authenticateRequests(app: HttpApp, admission: Admission): void {
  app.after(() => {
    app.addHook("onRequest", async (request, reply) => {
      if (isOpen(request) || isPage(request)) return;
      const credential = await admission.authenticate(request.headers.authorization);
      request.credential = credential;
      if (credential.name !== undefined) nameCaller(request, reply, credential.name);
      const { scope } = request.routeOptions.config;
      if (scope !== undefined) permitScope(credential, scope);
      const tenant = tenantIn(request.params);
      if (tenant !== undefined) permitTenant(credential, tenant);
    });
  });
}

/** Adds the name of the caller to each log line of the request. */
function nameCaller(request: FastifyRequest, reply: FastifyReply, caller: string): void {
  request.log = request.log.child({ caller });
  reply.log = request.log;
}

/** The tenant in a path. */
function tenantIn(params: unknown): string | undefined {
  if (typeof params !== "object" || params === null) return undefined;
  const tenant: unknown = Reflect.get(params, "tenant_id") ?? Reflect.get(params, "id");
  return typeof tenant === "string" ? tenant : undefined;
}

/** Health probes have no token. */
function isOpen(request: FastifyRequest): boolean {
  const { url } = request.routeOptions;
  return url !== undefined && healthPaths.has(url);
}

/** The pages have no secrets, and a browser that opens one sends no token. */
function isPage({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url !== undefined && pagePaths.has(routeOptions.url);
}

/** The same for a request with an unreadable path, for which no hook runs. */
export function admitBefore(
  admission: Admission,
): (error: Error, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const refuse = (reason: unknown): void => replyWithError(reason, request, reply);
    const check = async (): Promise<unknown> =>
      await admit(admission, request.headers.authorization);
    check().then(() => refuse(error), refuse);
  };
}

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
function limitRate(
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
      const isTaken = isOpen(request) || rateLimit.take();
      if (isTaken === false) return refuse.call(app, request, reply);
      if (isTaken === true) {
        done();
        return undefined;
      }
      return isTaken.then(async (wasTaken) => {
        if (!wasTaken) await refuse.call(app, request, reply);
      });
    });
  });
}

type Counted = (error: null, result: { readonly current: number; readonly ttl: number }) => void;

/** A class, because the plugin creates its store itself. */
function storeOf(rateLimit: RateLimit) {
  return class Store {
    /** The request was counted before. */
    incr(_key: string, counted: Counted, timeWindow: number): void {
      counted(null, { current: rateLimit.perSecond + 1, ttl: timeWindow });
    }

    /** Called for routes with options of their own, which have the same limit. */
    child(): Store {
      return this;
    }
  };
}
