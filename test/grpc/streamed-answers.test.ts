import assert from "node:assert/strict";
import { once } from "node:events";
import { constants } from "node:http2";
import { after, before, test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { gzipSync } from "node:zlib";

import { create, toBinary } from "@bufbuild/protobuf";
import { type handleServerStreamingCall, Metadata, Server, status } from "@grpc/grpc-js";

import { PembaError } from "../../src/base/error.ts";
import { noTelemetry } from "../../src/base/telemetry.ts";
import type { SchemaVersion, SnapToken } from "../../src/base/tuple.ts";
import {
  Permission,
  PermissionLookupEntityRequestSchema,
  PermissionLookupEntityStreamResponseSchema,
} from "../../src/gen/base/v1/permission_pb.ts";
import { pathOf } from "../../src/grpc/method-name.ts";
import { createHealth } from "../../src/service/health.ts";
import { lookupEntityStream } from "../../src/service/lookups.ts";
import type { Service } from "../../src/service/service.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { LookupEntityQuestion, LookupPage } from "../../src/store/store.ts";
import { callOn, endOf, messageOf } from "../intake/wire.ts";
import { type GrpcApp, serveGrpc } from "../support/grpc.ts";
import { type BothServers, openBoth, told } from "./beside-library.ts";

/*
 * Our server writes many answers at once, and one of the library each alone. A client sees no difference.
 */

const path = pathOf(Permission.method.lookupEntityStream);
const question = {
  tenantId: "t1",
  metadata: {},
  entityType: "doc",
  permission: "view",
  subject: { type: "user", id: "ada" },
};
const request = messageOf(PermissionLookupEntityRequestSchema, question);

const asked: LookupEntityQuestion[] = [];
let service: Service;
let grpc: GrpcApp;
let both: BothServers;

/** As many ids as are asked for, and then others, up to a limit. */
function pageOf(question: LookupEntityQuestion, total: number): LookupPage {
  asked.push(question);
  const from = question.after === undefined ? 0 : Number(question.after) + 1;
  const to = Math.min(from + question.limit, total);
  const items = Array.from({ length: to - from }, (_, index) =>
    String(from + index).padStart(7, "0"),
  );
  return {
    items,
    next: to < total ? items.at(-1) : undefined,
    snapToken: "state" as SnapToken,
    schemaVersion: "00000000000000000001" as SchemaVersion,
  };
}

let total = 0;

/** Awaited before a page is read. */
let beforePage: (after: string | undefined, signal: AbortSignal | undefined) => Promise<void> =
  atOnce;

/** How calls ended, as metrics count them. */
const ended: string[] = [];

before(async () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1024 });
  const entities = async (_tenant: unknown, lookup: LookupEntityQuestion): Promise<LookupPage> => {
    await beforePage(lookup.after, lookup.signal);
    return pageOf(lookup, total);
  };
  const lookups = { ...store.lookups, entities };
  service = {
    store: { ...store, lookups },
    health: createHealth(store),
    maxDataPerWrite: 1,
    bulkLimit: 1,
  };
  grpc = await serveGrpc(service, undefined, {
    ...noTelemetry,
    begin: () => ({ traceId: undefined, run: (work) => work(), end: (code) => ended.push(code) }),
  });
  const library = new Server();
  const asIs = (bytes: Buffer): Buffer => bytes;
  const handler: handleServerStreamingCall<Buffer, Buffer> = (call) => void answer(call);
  library.register(path, handler, asIs, asIs, "serverStream");
  both = await openBoth(grpc.port, library);
});
after(async () => {
  both.close();
  await grpc.close();
});

async function atOnce(): Promise<void> {
  await nextRound();
}

/** Begins a test: so many ids are found, and how a page is waited for. */
function found(count: number, wait: typeof beforePage = atOnce): void {
  total = count;
  beforePage = wait;
  asked.length = 0;
  ended.length = 0;
}

/** Answers by the library, a message at a time. */
async function answer(
  call: Parameters<handleServerStreamingCall<Buffer, Buffer>>[0],
): Promise<void> {
  call.sendMetadata(new Metadata());
  for await (const results of lookupEntityStream(service, question)) {
    for (const { id, continuousToken } of results) {
      const message = create(PermissionLookupEntityStreamResponseSchema, {
        entityId: id,
        continuousToken,
      });
      const schema = PermissionLookupEntityStreamResponseSchema;
      if (!call.write(Buffer.from(toBinary(schema, message)))) await once(call, "drain");
    }
  }
  call.end();
}

function zipped(message: Buffer): Buffer {
  const bytes = gzipSync(message.subarray(5));
  const prefix = Buffer.from([1, 0, 0, 0, 0]);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

for (const count of [0, 1, 99, 100, 101, 5_432]) {
  test(`a client gets ${count} answers as from the library`, async () => {
    found(count);
    const call = { path, frames: [request] };
    const right = await told(both.theirs, call);
    assert.deepEqual(await told(both.ours, call), right);
    const timed = { ...call, headers: { "grpc-timeout": "1H" } };
    assert.deepEqual(await told(both.ours, timed), right);
    const headers = { "grpc-encoding": "gzip" };
    assert.deepEqual(await told(both.ours, { path, frames: [zipped(request)], headers }), right);
  });
}

for (const [name, frames] of [
  ["no request", []],
  ["two requests", [request, request]],
] as const) {
  test(`a client that sends ${name} gets the error of the library`, async () => {
    found(10);
    const call = { path, frames };
    assert.deepEqual(await told(both.ours, call), await told(both.theirs, call));
  });
}

for (const [name, headers, bytes] of [
  ["direct", {}, request],
  ["compressed", { "grpc-encoding": "gzip" }, zipped(request)],
] as const) {
  test(`a ${name} call whose client reads nothing is given up at its deadline`, async () => {
    const { end, signal } = await stalled({ ...headers, "grpc-timeout": "200m" }, bytes);
    if (!signal.aborted) await once(signal, "abort");
    assert.ok(asked.length < 5, `${asked.length} pages were read`);
    assert.equal((await end()).status, status.DEADLINE_EXCEEDED);
    assert.deepEqual(ended.splice(0), ["CANCELLED"]);
  });

  test(`a ${name} call whose client leaves while answers wait for it ends`, async () => {
    const { leave } = await stalled(headers, bytes);
    leave();
    while (ended.length === 0) await nextRound();
    assert.deepEqual(ended.splice(0), ["CANCELLED"]);
  });

  test(`a ${name} call that fails between its answers has these and the error`, async () => {
    found(1_500, async (after) => {
      if (after !== undefined) throw new PembaError("UNAVAILABLE", "the database is gone");
      await nextRound();
    });
    const stream = callOn(both.ours, { path, headers });
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.end(bytes);
    assert.equal((await endOf(stream)).status, status.UNAVAILABLE);
    assert.equal(messagesIn(Buffer.concat(chunks)), 1_000);
    assert.deepEqual(ended.splice(0), ["UNAVAILABLE"]);
  });

  test(`a ${name} call whose deadline passes while answers are made has them not`, async () => {
    let made: Promise<unknown> | undefined;
    found(1_500, async (after, signal) => {
      if (after === undefined || signal === undefined) return;
      // It comes later all the same.
      made = once(signal, "abort");
      await made;
    });
    const stream = callOn(both.ours, { path, headers: { ...headers, "grpc-timeout": "200m" } });
    stream.end(bytes);
    assert.equal((await endOf(stream)).status, status.DEADLINE_EXCEEDED);
    await made;
    while (ended.length === 0) await nextRound();
    assert.deepEqual(ended.splice(0), ["CANCELLED"]);
    assert.equal(stream.rstCode, 0);
  });
}

/** A call for more than its client has room for, which reads nothing. */
async function stalled(
  headers: Readonly<Record<string, string>>,
  bytes: Buffer,
): Promise<{
  readonly signal: AbortSignal;
  readonly end: () => ReturnType<typeof endOf>;
  readonly leave: () => void;
}> {
  found(1_000_000);
  const stream = callOn(both.ours, { path, headers });
  stream.end(bytes);
  await once(stream, "response");
  const signal = asked[0]?.signal ?? assert.fail("no page was read");
  return {
    signal,
    end: async () => await endOf(stream),
    leave: () => stream.close(constants.NGHTTP2_CANCEL),
  };
}

/** How many whole messages there are. */
function messagesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 5 + bytes.readUInt32BE(at + 1)) count += 1;
  return count;
}
