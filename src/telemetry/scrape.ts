import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import type { IMetricReader, ResourceMetrics } from "@opentelemetry/sdk-metrics";

import { SingleFlight } from "../base/single-flight.ts";
import { connectionKey, Connections } from "../intake/connections.ts";
import { holdFor } from "../intake/held.ts";
import { limitPipelining } from "../intake/limit-pipelining.ts";
import { limitSockets } from "../intake/limit-sockets.ts";
import { temporalityOf } from "./temporality.ts";

export interface ScrapeAddress {
  readonly host: string;
  readonly port: number;
}

/** A listener that Prometheus scrapes. */
export interface Scrape {
  readonly reader: IMetricReader;
  /** The bound port, which differs from the given one if that was 0. */
  readonly port: number;
  close(): Promise<void>;
}

/** The default path of Prometheus. */
const path = "/metrics";
/** A server has one or two who scrape it. */
const connectionsMax = 100;

/** In milliseconds: a request comes at once, and its answer is read at once. */
const times = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 };
const silenceMs = 10_000;

const contentType = "text/plain; version=0.0.4; charset=utf-8";

/** Listens for Prometheus. Fails if that is not possible. */
export async function openScrape({ host, port }: ScrapeAddress): Promise<Scrape> {
  // The package's own server cannot bind a free port, and its content type is incomplete.
  const reader = new ScrapeReader({ preventServerStart: true });
  const serializer = new PrometheusSerializer("", false, undefined, false, true);
  const collect = async (): Promise<string> => {
    const { resourceMetrics } = await reader.collect();
    return serializer.serialize(withUnits(resourceMetrics));
  };
  // A client may send a thousand requests ahead on a connection, each of which would take a millisecond.
  const reads = new SingleFlight<string>();
  const read = async (): Promise<string> => await reads.join(path, collect, undefined);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isKnown = request.url?.split("?", 1)[0] === path;
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isKnown || !isRead) {
      response.writeHead(isKnown ? 405 : 404, isKnown ? { allow: "GET, HEAD" } : {}).end();
      return;
    }
    const text = await read();
    response.writeHead(200, { "content-type": contentType });
    response.end(text);
  };
  const server = createServer(times, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  limitClients(server);
  server.listen({ host, port });
  // The listener must not keep the process alive.
  server.unref();
  await once(server, "listening");
  const bound = server.address();
  return {
    reader,
    port: typeof bound === "object" && bound !== null ? bound.port : port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The port needs no token, so a client may open connections and send requests ahead as it likes. */
function limitClients(server: Server): void {
  const connections = new Connections(connectionsMax);
  const end = (socket: Socket): void => void socket.destroy();
  limitSockets(server, connections, { makeRoom: end, refuse: end });
  limitPipelining(server, false);
  // Node leaves both to their listeners if there are any, as `limitPipelining` does: the first with its errors, which would
  // end the process.
  server.on("connect", ({ socket }) => socket.destroy());
  server.on("checkExpectation", (_request, response) => response.writeHead(417).end());
  server.on("request", ({ socket }, response) =>
    holdFor(response, connections.began(connectionKey(socket))),
  );
  server.setTimeout(silenceMs);
}

/** Reads when it is scraped. */
class ScrapeReader extends PrometheusExporter {
  override selectAggregationTemporality = temporalityOf;
}

/** Units as name suffixes in Prometheus. */
const suffixes: ReadonlyMap<string, string> = new Map([
  ["s", "_seconds"],
  ["By", "_bytes"],
  ["1", "_ratio"],
]);

/** Adds the units to the names, as a collector does for Prometheus. The package does not. */
function withUnits(measured: ResourceMetrics): ResourceMetrics {
  const scopeMetrics = measured.scopeMetrics.map((scope) => ({
    ...scope,
    metrics: scope.metrics.map((metric) => {
      const { name, unit } = metric.descriptor;
      const descriptor = { ...metric.descriptor, name: name + (suffixes.get(unit) ?? "") };
      return { ...metric, descriptor };
    }),
  }));
  return { ...measured, scopeMetrics };
}
