import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";

import type { Admission } from "../auth/admission.ts";
import type { Certificate } from "../auth/certificate.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import { limitPipelining } from "../intake/limit-pipelining.ts";
import type { Service } from "../service/service.ts";
import { requestIdHeader, traceIdOf } from "../telemetry/request-id.ts";
import { admitBefore, admitRequests } from "./admit.ts";
import type { HttpApp } from "./app.ts";
import { allowOrigins, type CorsRules } from "./cors.ts";
import { endAtDeadlines } from "./deadline.ts";
import { replyWithError } from "./error-reply.ts";
import { checkJsonHeader, type JsonForm } from "./json-form.ts";
import { limitConnections } from "./limit-connections.ts";
import { limitUnread } from "./limit-unread.ts";
import { observeBefore, observeRequests } from "./observe.ts";
import { closeConnections, openApp } from "./open-app.ts";
import type { DescribedRoute } from "./openapi/describe-api.ts";
import { readBodies } from "./read-bodies.ts";
import { answerForNode } from "./refused-by-node.ts";
import { bundleRoutes } from "./routes/bundles.ts";
import { consoleRoutes } from "./routes/console.ts";
import { dataRoutes } from "./routes/data.ts";
import { explainRoutes } from "./routes/explain.ts";
import { healthRoutes } from "./routes/health.ts";
import { lookupRoutes } from "./routes/lookups.ts";
import { messageRoutes } from "./routes/messages.ts";
import { permissionRoutes } from "./routes/permissions.ts";
import { referenceRoutes } from "./routes/reference.ts";
import { schemaRoutes } from "./routes/schemas.ts";
import { tenantRoutes } from "./routes/tenants.ts";
import { watchRoutes } from "./routes/watch.ts";
import { shapeCompiler } from "./shape-check.ts";
import { knownPaths, refuseUnknown } from "./unknown-path.ts";
import { answerThoseWhoSend } from "./unread-body.ts";

/**
 * Builds the REST server of a service. It does not listen yet. Closing it stops accepting at once,
 * and resolves when all requests in progress are answered.
 */
export function buildHttpServer(options: {
  readonly service: Service;
  readonly admission: Admission;
  readonly logger: FastifyBaseLogger;
  readonly certificate?: Certificate | undefined;
  /** The form of JSON for requests that choose none: the documented one if it is absent. */
  readonly json?: JsonForm;
  /** Undefined: no page may call the API from a browser. */
  readonly cors?: CorsRules;
  readonly telemetry?: Telemetry | undefined;
  /** Whether the console is served. */
  readonly hasConsole?: boolean;
}): HttpApp {
  const { telemetry = noTelemetry } = options;
  const paths = knownPaths();
  const isEncrypted = options.certificate !== undefined;
  const refuse = observeBefore(telemetry, admitBefore(options.admission));
  const app = openApp({
    json: options.json ?? "documented",
    paths,
    logger: options.logger,
    certificate: options.certificate,
    // No hook runs for such a request.
    refuse(error, request, reply) {
      nameReply(request, reply);
      refuse(error, request, reply);
    },
  });

  app.addHook("onRoute", (route) => paths.add(route));
  refuseUnknown(app, paths);
  app.setErrorHandler(replyWithError);
  app.setValidatorCompiler(shapeCompiler);
  // Answer shapes are documentation only. Encoded answers are sent completely.
  app.setSerializerCompiler(() => JSON.stringify);
  endAtDeadlines(app);
  observeRequests(app, telemetry);
  readBodies(app, options.admission.intake);
  nameRequests(app);
  answerForNode(app, paths);
  limitConnections(app, options.admission.intake, isEncrypted);
  limitPipelining(app.server, isEncrypted);
  closeConnections(app);
  answerThoseWhoSend(app, options.admission.intake);
  limitUnread(app, options.admission.intake);
  if (options.cors !== undefined) allowOrigins(app, options.cors);
  admitRequests(app, options.admission);
  app.after(() => checkJsonHeader(app));

  const described: DescribedRoute[] = [];
  app.addHook("onRoute", (route) => void described.push(route));
  healthRoutes(app, options.service);
  tenantRoutes(app, options.service);
  schemaRoutes(app, options.service);
  dataRoutes(app, options.service);
  bundleRoutes(app, options.service);
  permissionRoutes(app, options.service);
  explainRoutes(app, options.service);
  watchRoutes(app, options.service);
  lookupRoutes(app, options.service);
  const documented = [...described];
  messageRoutes(app, options.service, documented);
  referenceRoutes(app, documented);
  if (options.hasConsole === true) consoleRoutes(app);
  return app;
}

/** Sends the request id of the log with the answer. */
function nameReply(request: FastifyRequest, reply: FastifyReply): void {
  reply.header(requestIdHeader, request.id);
}

function nameRequests(app: HttpApp): void {
  app.addHook("onRequest", (request, reply, done) => {
    nameReply(request, reply);
    // With traces, log lines of a request also have its trace.
    const traceId = request.record === null ? traceIdOf(request.headers["traceparent"]) : undefined;
    if (traceId !== undefined) {
      request.log = request.log.child({ trace_id: traceId });
      reply.log = request.log;
    }
    done();
  });
  if (app.log.level !== "debug") return;
  app.addHook("onResponse", (request, reply, done) => {
    const line = {
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      milliseconds: Math.round(reply.elapsedTime * 1000) / 1000,
    };
    const tell = (): void => request.log.debug(line, "request answered");
    if (request.record === null) tell();
    else request.record.run(tell);
    done();
  });
}
