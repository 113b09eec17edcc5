import { randomUUID } from "node:crypto";

import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { type FastifyBaseLogger, type FastifyRequest, fastify, LogController } from "fastify";

import type { Service } from "../service/service.ts";
import type { HttpApp } from "./app.ts";
import { bodyLimit, parseBody } from "./body.ts";
import { replyWithError } from "./error-reply.ts";
import { bundleRoutes } from "./routes/bundles.ts";
import { dataRoutes } from "./routes/data.ts";
import { healthRoutes } from "./routes/health.ts";
import { lookupRoutes } from "./routes/lookups.ts";
import { permissionRoutes } from "./routes/permissions.ts";
import { schemaRoutes } from "./routes/schemas.ts";
import { tenantRoutes } from "./routes/tenants.ts";
import { watchRoutes } from "./routes/watch.ts";
import { shapeCompiler } from "./shape-check.ts";
import { knownPaths } from "./unknown-path.ts";

/** As much as the head of a request may hold: an id that is too long deserves a 400 that says so. */
const maxParamLength = 16_384;

/** A client that takes longer to send its request would hold a connection for nothing. */
const requestTimeout = 60_000;

/** A client that is gone without a word must not hold its stream for ever. */
const keepaliveDelay = 30_000;

/**
 * The REST interface of a service, not yet listening. Closing it stops accepting at once and
 * resolves when the requests that were under way have been answered.
 */
export function buildHttpServer(options: {
  readonly service: Service;
  readonly logger: FastifyBaseLogger;
}): HttpApp {
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit,
    requestTimeout,
    http: { keepAlive: true, keepAliveInitialDelay: keepaliveDelay },
    // A request that came before the close is one of those that are finished.
    return503OnClosing: false,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength },
    frameworkErrors: replyWithError,
  }).withTypeProvider<TypeBoxTypeProvider>();

  const paths = knownPaths();
  app.addHook("onRoute", (route) => paths.add(route));
  app.setNotFoundHandler((request, reply) => paths.refuse(request, reply));
  app.setErrorHandler(replyWithError);
  app.setValidatorCompiler(shapeCompiler);
  readBodies(app);
  nameRequests(app);
  closeConnections(app);

  healthRoutes(app, options.service);
  tenantRoutes(app, options.service);
  schemaRoutes(app, options.service);
  dataRoutes(app, options.service);
  bundleRoutes(app, options.service);
  permissionRoutes(app, options.service);
  watchRoutes(app, options.service);
  lookupRoutes(app, options.service);
  return app;
}

/** Every body is JSON whatever its content type says, and a GET may have one (tenants/list). */
function readBodies(app: HttpApp): void {
  app.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    { parseAs: "buffer" },
    async (request: FastifyRequest, bytes: Buffer) =>
      // Where there is no path, no body is wrong.
      request.is404 ? {} : parseBody(bytes),
  );
  // Without the header nothing can be wrong with it: a malformed one would be refused with 415.
  app.addHook("onRequest", async (request) => {
    delete request.raw.headers["content-type"];
  });
}

/** The id under which the log knows a request goes back with its answer. */
function nameRequests(app: HttpApp): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  app.addHook("onResponse", async (request, reply) => {
    request.log.debug(
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      "request answered",
    );
  });
}

/** Once the server is closing, a connection ends with its answer: kept open it would delay the end. */
function closeConnections(app: HttpApp): void {
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
  });
  app.addHook("onSend", async (_request, reply) => {
    if (isClosing) reply.header("connection", "close");
  });
}
