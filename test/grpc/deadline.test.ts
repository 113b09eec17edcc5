import assert from "node:assert/strict";
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { status } from "@grpc/grpc-js";

import { presentCaller } from "../../src/base/caller.ts";
import { Tenancy, TenantListRequestSchema } from "../../src/gen/base/v1/tenancy_pb.ts";
import { pathOf } from "../../src/grpc/method-name.ts";
import { callOn, endOf, messageOf, openSession } from "../intake/wire.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { type GrpcApp, serveGrpc } from "../support/grpc.ts";

/*
 * The longest time that a timer can wait is less than 25 days. A client may wait for longer.
 */

const path = pathOf(Tenancy.method.list);
const dayMs = 86_400_000;

const compressed = gzipSync(Buffer.alloc(0));
const prefix = Buffer.from([1, 0, 0, 0, compressed.length]);

/** Compressed requests go over the library. */
const ways = [
  { name: "a call", request: messageOf(TenantListRequestSchema, {}), headers: {} },
  {
    name: "a compressed call",
    request: Buffer.concat([prefix, compressed]),
    headers: { "grpc-encoding": "gzip" },
  },
];

let app: TestApp;
let grpc: GrpcApp;
let session: ClientHttp2Session;
/** When the callers of the calls stop waiting. */
let waitsUntil: (number | undefined)[] = [];

before(async () => {
  const memory = engines.find(({ name }) => name === "memory");
  assert.ok(memory);
  app = await memory.start();
  const { store } = app;
  const list: typeof store.tenants.list = async (page) => {
    waitsUntil.push(presentCaller()?.waitsUntil);
    return await store.tenants.list(page);
  };
  const tenants = { ...store.tenants, list };
  grpc = await serveGrpc({ ...app.service, store: { ...store, tenants } });
  session = await openSession(grpc.port);
});
after(async () => {
  session.destroy();
  await grpc.close();
  await app.close();
});

for (const { name, request, headers } of ways) {
  for (const timeout of ["2592000S", "5000H", "99999999H"]) {
    test(`${name} with the timeout ${timeout} does not end before`, async (t) => {
      const warnings: Error[] = [];
      const warned = (warning: Error): void => void warnings.push(warning);
      process.on("warning", warned);
      t.after(() => process.off("warning", warned));
      const call = callOn(session, { path, headers: { ...headers, "grpc-timeout": timeout } });
      const ended = endOf(call);
      // A timer that fires at once does so before this call is over.
      const short = callOn(session, { path, headers: { ...headers, "grpc-timeout": "30m" } });
      assert.equal((await endOf(short)).status, status.DEADLINE_EXCEEDED);
      short.end();
      waitsUntil = [];
      call.end(request);
      assert.deepEqual(await ended, { status: status.OK, message: "OK" });
      assert.equal(waitsUntil.length, 1);
      assert.ok(Number(waitsUntil[0]) - performance.now() > 24 * dayMs);
      assert.deepEqual(warnings, []);
    });
  }

  for (const timeout of ["5", "5x", "-5m", "5.5S", "9999999999S", "5 S", "soon"]) {
    test(`${name} with the timeout ${timeout} is refused`, async () => {
      const call = callOn(session, { path, headers: { ...headers, "grpc-timeout": timeout } });
      const closed = once(call, "close");
      call.end(request);
      const { status: code, message } = await endOf(call);
      assert.equal(code, status.INTERNAL);
      assert.match(message, /^Invalid grpc-timeout value "/);
      await closed;
    });
  }
}

test("a call keeps its deadline where a timer cannot wait for it", async () => {
  waitsUntil = [];
  const call = callOn(session, { path, headers: { "grpc-timeout": "2592000S" } });
  call.end(messageOf(TenantListRequestSchema, {}));
  assert.equal((await endOf(call)).status, status.OK);
  assert.equal(Math.round((Number(waitsUntil[0]) - performance.now()) / dayMs), 30);
});
