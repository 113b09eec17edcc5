import type { FastifyReply, FastifyRequest } from "fastify";

import { type Admission, admit } from "../auth/admission.ts";
import type { HttpApp } from "./app.ts";
import { replyWithError } from "./error-reply.ts";
import { limitRate } from "./limit-rate.ts";
import { healthPaths } from "./routes/health.ts";
import { referencePaths } from "./routes/reference.ts";

/** Asks before anything of a request is read, its body included; also where there is no route. */
export function admitRequests(app: HttpApp, admission: Admission): void {
  limitRate(app, admission.rateLimit, isOpen);
  if (!admission.needsToken) return;
  app.after(() => {
    app.addHook("onRequest", async (request) => {
      if (isOpen(request) || isReference(request)) return;
      await admission.authenticate(request.headers.authorization);
    });
  });
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
