import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { type handleUnaryCall, Server } from "@grpc/grpc-js";

import { Health, HealthCheckRequestSchema } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { pathOf } from "../../src/grpc/method-name.ts";
import { messageOf } from "../intake/wire.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { type GrpcApp, serveGrpc } from "../support/grpc.ts";
import { type BothServers, openBoth, type SentCall, told } from "./beside-library.ts";

/*
 * Sends the same bytes to our server and to one of the library that answers them by itself.
 */

const path = pathOf(Health.method.check);
const request = messageOf(HealthCheckRequestSchema, {});
/** Says that it is serving. */
const answer = Buffer.from([0x08, 0x01]);

let app: TestApp;
let grpc: GrpcApp;
let both: BothServers;

before(async () => {
  const memory = engines.find(({ name }) => name === "memory");
  assert.ok(memory);
  app = await memory.start();
  grpc = await serveGrpc(app.service);
  const library = new Server();
  const asIs = (bytes: Buffer): Buffer => bytes;
  const handler: handleUnaryCall<Buffer, Buffer> = (_call, callback) => callback(null, answer);
  library.register(path, handler, asIs, asIs, "unary");
  both = await openBoth(grpc.port, library);
});
after(async () => {
  both.close();
  await grpc.close();
  await app.close();
});

interface Sent extends Omit<SentCall, "path"> {
  readonly name: string;
}

const compressed = gzipSync(Buffer.alloc(0));
const prefix = Buffer.from([1, 0, 0, 0, compressed.length]);

const calls: readonly Sent[] = [
  { name: "one request", frames: [request] },
  { name: "no request", frames: [] },
  { name: "two requests", frames: [request, request] },
  { name: "two requests at once", frames: [Buffer.concat([request, request])] },
  { name: "a request byte by byte", frames: [...request].map((byte) => Buffer.from([byte])) },
  { name: "a part of a request", frames: [request.subarray(0, 3)] },
  { name: "a request that counts as compressed", frames: [Buffer.from([1, 0, 0, 0, 0])] },
  {
    name: "a compressed request",
    frames: [Buffer.concat([prefix, compressed])],
    headers: { "grpc-encoding": "gzip" },
  },
  { name: "an unknown encoding", frames: [prefix], headers: { "grpc-encoding": "zip" } },
  { name: "another type", frames: [request], headers: { "content-type": "text/plain" } },
  { name: "time enough", frames: [request], headers: { "grpc-timeout": "1H" } },
  { name: "no time that can be read", frames: [request], headers: { "grpc-timeout": "soon" } },
  {
    name: "a request that does not end in time",
    frames: [request],
    headers: { "grpc-timeout": "30m" },
    isOpen: true,
  },
];

for (const sent of calls) {
  test(`a client that sends ${sent.name} is told the same as by the library`, async () => {
    const call = { ...sent, path };
    assert.deepEqual(await told(both.ours, call), await told(both.theirs, call));
  });
}
