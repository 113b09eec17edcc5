import type { FastifyReply, FastifyRequest } from "fastify";

import { type Admission, admit } from "../auth/admission.ts";
import type { Credential } from "../auth/credential.ts";
import { scopeOf } from "../auth/operation-scopes.ts";
import { permitScope, permitTenant } from "../auth/permit.ts";
import { assert } from "../base/assert.ts";
import type { Scope } from "../base/scope.ts";
import type { HttpApp } from "./app.ts";
import { replyWithError } from "./error-reply.ts";
import { limitRate } from "./limit-rate.ts";
import { operationOf } from "./operation-name.ts";
import { healthPaths } from "./routes/health.ts";
import { referencePaths } from "./routes/reference.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What its token lets it do; null before that is known, and where no token is asked for. */
    credential: Credential | null;
  }
  interface FastifyContextConfig {
    /** The scope that a token needs for the route. */
    scope?: Scope | undefined;
  }
}

/**
 * Asks before anything of a request is read, its body included; also where there is no route. To be
 * called before there are routes. Each has to belong to a scope and say of which tenant it is, but for
 * creating and listing tenants, which look at that themselves.
 */
export function admitRequests(app: HttpApp, admission: Admission): void {
  limitRate(app, admission.rateLimit, isOpen);
  app.decorateRequest("credential", null);
  app.addHook("onRoute", (route) => {
    if (healthPaths.has(route.url) || referencePaths.has(route.url)) return;
    // Of the plugin that answers preflights: there is nothing behind it.
    if (route.url === "*") return;
    const scope = scopeOf(operationOf(route));
    assert(route.url.startsWith("/v1/tenants/"), `${route.url} says of which tenant it is`);
    route.config = { ...route.config, scope };
  });
  if (!admission.needsToken) return;
  app.after(() => {
    app.addHook("onRequest", async (request, reply) => {
      if (isOpen(request) || isReference(request)) return;
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

/** Each line that tells of the request says who asks. */
function nameCaller(request: FastifyRequest, reply: FastifyReply, caller: string): void {
  request.log = request.log.child({ caller });
  reply.log = request.log;
}

/** The tenant of a path, which is below it or is what the path names. */
function tenantIn(params: unknown): string | undefined {
  if (typeof params !== "object" || params === null) return undefined;
  const tenant: unknown = Reflect.get(params, "tenant_id") ?? Reflect.get(params, "id");
  return typeof tenant === "string" ? tenant : undefined;
}

/** Who asks whether the process serves has no token. */
function isOpen(request: FastifyRequest): boolean {
  const { url } = request.routeOptions;
  return url !== undefined && healthPaths.has(url);
}

/** The description says the same to everybody, and a browser that opens the page sends no token. */
function isReference({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url !== undefined && referencePaths.has(routeOptions.url);
}

/** The same for a request that has no path that can be read, and so meets no hook. */
export function admitBefore(
  admission: Admission,
): (error: Error, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const refuse = (reason: unknown): void => replyWithError(reason, request, reply);
    admit(admission, request.headers.authorization).then(() => refuse(error), refuse);
  };
}
