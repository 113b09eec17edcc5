import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
  type FastifyLogFn,
} from "fastify";
import type { Bindings, ChildLoggerOptions } from "pino";

import { type Certificate, oldestTls } from "../auth/certificate.ts";
import { connectionKey } from "../intake/connections.ts";
import { requestIdHeader, requestIdOf } from "../telemetry/request-id.ts";
import type { HttpApp } from "./app.ts";
import { bodyLimit } from "./body.ts";
import { type JsonForm, routeByJson } from "./json-form.ts";
import { answerUnreadable } from "./refused-by-node.ts";
import type { KnownPaths } from "./unknown-path.ts";

/** As large as a request head can be, so that an id that is too long gets a clear 400. */
const maxParamLength = 16_384;

/** Limits the time of sending a request, because slow clients hold connections. */
const requestTimeout = 60_000;

const connections = {
  // A client that vanished must not hold its stream for ever.
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  // Regular clients send their headers at once. By default Node checks for late headers only every
  // 30 seconds.
  headersTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  // A request without it is refused later, with an error body.
  requireHostHeader: false,
};

export interface AppOptions {
  /** The form of JSON for requests that choose none. */
  readonly json: JsonForm;
  readonly logger: FastifyBaseLogger;
  /** Undefined: connections are not encrypted. */
  readonly certificate: Certificate | undefined;
  /** Answers a request whose path cannot be parsed. */
  readonly refuse: (error: Error, request: FastifyRequest, reply: FastifyReply) => void;
  /** The refusal for a request with a method that Node does not know. */
  readonly paths: Pick<KnownPaths, "refusalOf">;
}

/** Creates a server without routes. New connections use the current certificate. */
export function openApp({ json, logger, certificate, refuse, paths }: AppOptions): HttpApp {
  const common = {
    loggerInstance: lateChildren(logger),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }: IncomingMessage) => requestIdOf(headers[requestIdHeader]),
    bodyLimit,
    requestTimeout,
    // Requests that came before the close are still answered.
    return503OnClosing: false,
    forceCloseConnections: "idle" as const,
    routerOptions: { maxParamLength, constraints: routeByJson(json) },
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

/**
 * Makes a closing server wait only for requests in progress. A connection closes after its answer.
 * A connection without a request closes at once: Node would treat it as busy, because its first
 * request may be on its way, and would wait for it.
 */
export function closeConnections(app: HttpApp): void {
  let isClosing = false;
  const unused = new Map<string, Socket>();
  app.server.on("connection", (socket: Socket) => {
    const key = connectionKey(socket);
    unused.set(key, socket);
    socket.once("close", () => {
      if (unused.get(key) === socket) unused.delete(key);
    });
  });
  app.server.on("request", ({ socket }) => {
    if (unused.size > 0) unused.delete(connectionKey(socket));
  });
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const socket of unused.values()) socket.destroy();
  });
  app.addHook("onSend", (_request, reply, _payload, done) => {
    if (isClosing) reply.header("connection", "close");
    done();
  });
}

type LogArguments = Parameters<FastifyLogFn>;

/**
 * Wraps a logger so that its children are created with their first line. The framework creates one
 * for each request, and most of them log nothing.
 */
function lateChildren(logger: FastifyBaseLogger): FastifyBaseLogger {
  return new LateLogger(() => logger);
}

/** Created on first use. */
class LateLogger implements FastifyBaseLogger {
  readonly #make: () => FastifyBaseLogger;
  #made: FastifyBaseLogger | undefined;

  constructor(make: () => FastifyBaseLogger) {
    this.#make = make;
  }

  child(bindings: Bindings, options?: ChildLoggerOptions): FastifyBaseLogger {
    return new LateLogger(() => this.#logger.child(bindings, options));
  }

  get level(): string {
    return this.#logger.level;
  }

  fatal(...line: LogArguments): void {
    this.#logger.fatal(...line);
  }

  error(...line: LogArguments): void {
    this.#logger.error(...line);
  }

  warn(...line: LogArguments): void {
    this.#logger.warn(...line);
  }

  info(...line: LogArguments): void {
    this.#logger.info(...line);
  }

  debug(...line: LogArguments): void {
    this.#logger.debug(...line);
  }

  trace(...line: LogArguments): void {
    this.#logger.trace(...line);
  }

  silent(...line: LogArguments): void {
    this.#logger.silent(...line);
  }

  get #logger(): FastifyBaseLogger {
    this.#made ??= this.#make();
    return this.#made;
  }
}
