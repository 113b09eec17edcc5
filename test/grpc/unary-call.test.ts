import assert from "node:assert/strict";
import { once } from "node:events";
import type { ClientHttp2Session, IncomingHttpHeaders } from "node:http2";
import { after, before, test } from "node:test";

import { type handleUnaryCall, Server, ServerCredentials } from "@grpc/grpc-js";

import { Health, HealthCheckRequestSchema } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { pathOf } from "../../src/grpc/method-name.ts";
import { callOn, messageOf, openSession } from "../intake/wire.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { type GrpcApp, serveGrpc } from "../support/grpc.ts";

/*
 * Sends the same bytes to our server and to one of the library that answers them by itself.
 */

const path = pathOf(Health.method.check);
const request = messageOf(HealthCheckRequestSchema, {});
/** Says that it is serving. */
const answer = Buffer.from([0x08, 0x01]);

let app: TestApp;
let grpc: GrpcApp;
let library: Server;
let ours: ClientHttp2Session;
let theirs: ClientHttp2Session;

before(async () => {
  const memory = engines.find(({ name }) => name === "memory");
  assert.ok(memory);
  app = await memory.start();
  grpc = await serveGrpc(app.service);
  library = new Server();
  const asIs = (bytes: Buffer): Buffer => bytes;
  const handler: handleUnaryCall<Buffer, Buffer> = (_call, callback) => callback(null, answer);
  library.register(path, handler, asIs, asIs, "unary");
  const port = await new Promise<number>((resolve, reject) => {
    library.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  ours = await openSession(grpc.port);
  theirs = await openSession(port);
});
after(async () => {
  ours.close();
  theirs.close();
  library.forceShutdown();
  await grpc.close();
  await app.close();
});

/** What comes back of a call, without what is another one each time. */
async function told(session: ClientHttp2Session, messages: readonly Buffer[]): Promise<object> {
  const stream = callOn(session, { path });
  const heads: IncomingHttpHeaders[] = [];
  const note = (headers: IncomingHttpHeaders): void => {
    const { date: _date, "x-request-id": _id, ...others } = headers;
    heads.push({ ...others });
  };
  stream.on("response", note);
  stream.on("trailers", note);
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.end(Buffer.concat(messages));
  await once(stream, "close");
  return { heads, body: Buffer.concat(chunks).toString("hex") };
}

for (const [name, messages] of [
  ["one request", [request]],
  ["no request", []],
  ["two requests", [request, request]],
] as const) {
  test(`a client that sends ${name} is told the same as by the library`, async () => {
    assert.deepEqual(await told(ours, messages), await told(theirs, messages));
  });
}
