import type { FastifyReply, FastifyRequest } from "fastify";

import type { Admission } from "../auth/admission.ts";
import type { HttpApp } from "./app.ts";
import { replyWithError } from "./error-reply.ts";
import { healthPath } from "./routes/health.ts";

/** Asks before anything of a request is read, its body included; also where there is no route. */
export function admitRequests(app: HttpApp, admit: Admission): void {
  app.addHook("onRequest", async (request) => {
    if (request.routeOptions.url !== healthPath) await admit(request.headers.authorization);
  });
}

/** The same for a request that has no path that can be read, and so meets no hook. */
export function admitBefore(
  admit: Admission,
): (error: Error, request: FastifyRequest, reply: FastifyReply) => void {
  return (error, request, reply) => {
    const refuse = (reason: unknown): void => replyWithError(reason, request, reply);
    admit(request.headers.authorization).then(() => refuse(error), refuse);
  };
}
