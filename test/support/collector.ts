import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { TestContext } from "node:test";

import { type handleUnaryCall, Server, ServerCredentials } from "@grpc/grpc-js";

import {
  linesOf,
  pointsOf,
  spansOf,
  type TakenLine,
  type TakenPoint,
  type TakenSpan,
} from "./otlp.ts";

/** What takes traces, metrics and lines of the log, as a collector of OpenTelemetry does. */
export interface Collector {
  /** Host and port of OTLP over HTTP, and over gRPC. */
  readonly http: string;
  readonly grpc: string;
  /** All that was taken so far. */
  readonly spans: readonly TakenSpan[];
  readonly points: readonly TakenPoint[];
  readonly lines: readonly TakenLine[];
  /** Paths with their headers, in the order in which they came. */
  readonly requests: readonly {
    readonly path: string;
    readonly headers: Readonly<Record<string, unknown>>;
  }[];
  /** Resolves to the first that is found, once it is there; tests have a time limit of their own. */
  until<T>(find: () => T | undefined): Promise<T>;
}

/** Starts a collector on free ports, or at the given one of HTTP. It ends with the test. */
export async function startCollector(t: TestContext, httpPort = 0): Promise<Collector> {
  const taken = new EventEmitter();
  const spans: TakenSpan[] = [];
  const points: TakenPoint[] = [];
  const lines: TakenLine[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders | Record<string, unknown> }[] = [];
  const take = (path: string, headers: Record<string, unknown>, bytes: Uint8Array): void => {
    requests.push({ path, headers });
    if (path.includes("race")) spans.push(...spansOf(bytes));
    else if (path.includes("etric")) points.push(...pointsOf(bytes));
    else lines.push(...linesOf(bytes));
    taken.emit("taken");
  };
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      take(request.url ?? "", request.headers, Buffer.concat(chunks));
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  http.listen(httpPort, "127.0.0.1");
  await once(http, "listening");
  const grpc = new Server();
  for (const signal of ["trace", "metrics", "logs"]) {
    const service = `${signal.slice(0, 1).toUpperCase()}${signal.slice(1)}Service`;
    const path = `/opentelemetry.proto.collector.${signal}.v1.${service}/Export`;
    const handler: handleUnaryCall<Buffer, Buffer> = (call, callback) => {
      take(path, call.metadata.getMap(), call.request);
      callback(null, Buffer.alloc(0));
    };
    grpc.register(path, handler, asIs, asIs, "unary");
  }
  const { promise: bound, resolve, reject } = Promise.withResolvers<number>();
  grpc.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
    error === null ? resolve(port) : reject(error),
  );
  const grpcPort = await bound;
  t.after(() => {
    http.close();
    http.closeAllConnections();
    grpc.forceShutdown();
  });
  const address = http.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return {
    http: `127.0.0.1:${address.port}`,
    grpc: `127.0.0.1:${grpcPort}`,
    spans,
    points,
    lines,
    requests,
    until: async (find) => {
      for (;;) {
        const found = find();
        if (found !== undefined) return found;
        await once(taken, "taken");
      }
    },
  };
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
