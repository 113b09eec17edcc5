import type { IncomingMessage } from "node:http";

import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from "fastify";

import { type Certificate, oldestTls } from "../auth/certificate.ts";
import { requestIdHeader, requestIdOf } from "../telemetry/request-id.ts";
import type { HttpApp } from "./app.ts";
import { bodyLimit } from "./body.ts";
import { lateChildren } from "./late-logger.ts";
import { answerUnreadable } from "./refused-by-node.ts";
import type { KnownPaths } from "./unknown-path.ts";

/** As much as the head of a request may hold: an id that is too long deserves a 400 that says so. */
const maxParamLength = 16_384;

/** A client that takes longer to send its request would hold a connection for nothing. */
const requestTimeout = 60_000;

const connections = {
  // A client that is gone without a word must not hold its stream for ever.
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  // Headers come at once from whoever means it. Node looks for late ones every 30 seconds by itself.
  headersTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  // What lacks it is refused with the body of an error.
  requireHostHeader: false,
};

export interface AppOptions {
  readonly logger: FastifyBaseLogger;
  /** Without one, connections are not encrypted. */
  readonly certificate: Certificate | undefined;
  /** Answers a request that no route can be looked for, since its path has no meaning. */
  readonly refuse: (error: Error, request: FastifyRequest, reply: FastifyReply) => void;
  /** What is wrong with a request that Node cannot read since it does not know its method. */
  readonly paths: Pick<KnownPaths, "refusalOf">;
}

/** A server without routes. New connections have the certificate of their time. */
export function openApp({ logger, certificate, refuse, paths }: AppOptions): HttpApp {
  const common = {
    loggerInstance: lateChildren(logger),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }: IncomingMessage) => requestIdOf(headers[requestIdHeader]),
    bodyLimit,
    requestTimeout,
    // A request that came before the close is one of those that are finished.
    return503OnClosing: false,
    forceCloseConnections: "idle" as const,
    routerOptions: { maxParamLength },
    frameworkErrors: refuse,
    clientErrorHandler: answerUnreadable(paths),
  };
  if (certificate === undefined) {
    return fastify({ ...common, http: connections }).withTypeProvider<TypeBoxTypeProvider>();
  }
  const tls = { minVersion: oldestTls } as const;
  const https = { ...connections, ...tls, ...certificate.current };
  const app = fastify({ ...common, https }).withTypeProvider<TypeBoxTypeProvider>();
  certificate.onChange((pair) => app.server.setSecureContext({ ...tls, ...pair }));
  return app;
}
