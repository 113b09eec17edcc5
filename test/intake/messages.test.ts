import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";

import { status } from "@grpc/grpc-js";

import { DataWriteRequestSchema } from "../../src/gen/base/v1/data_pb.ts";
import { PermissionCheckRequestSchema } from "../../src/gen/base/v1/permission_pb.ts";
import { ServerReflectionRequestSchema } from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { until } from "../store/open-write.ts";
import { engines } from "../support/engines.ts";
import { askGrpc, askRest, check, idOf, schema, serve, type Served } from "./served.ts";
import { answerOn, callOn, endOf, messageHead, messageOf } from "./wire.ts";

const [engine] = engines;
assert.ok(engine);

describe("what the messages of calls count for", () => {
  test("a method that is of no tenant takes nothing from the share of one", async (t) => {
    const served = await serve(t, engine, { requestsOfTenant: 1 });
    const tenant = await served.app.tenant(schema);
    const session = await served.openSession();
    const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const reflection = callOn(session, { path });
    // The first field is a text, as the tenant is in the requests of tenants.
    reflection.write(
      messageOf(ServerReflectionRequestSchema, {
        host: idOf(tenant),
        messageRequest: { case: "listServices", value: "" },
      }),
    );
    await once(reflection, "data");
    const unknown = callOn(session, { path: "/base.v1.Nothing/Nothing" });
    unknown.write(messageOf(DataWriteRequestSchema, { tenantId: idOf(tenant) }));
    await new Promise<void>((resolve) => session.ping(() => resolve()));
    assert.equal((await askRest(served, tenant)).status, 200);
    await askGrpc(served, tenant);
  });

  test("a message that is not the first one counts, too", async (t) => {
    const served = await serve(t, engine, { bytesOfTenant: 200_000 });
    const tenant = idOf(await served.app.tenant(schema));
    const call = callOn(await served.openSession());
    call.write(messageOf(DataWriteRequestSchema, { tenantId: tenant }));
    call.write(messageHead(tenant, 300_000));
    const { status: code, message } = await endOf(call);
    assert.equal(code, status.RESOURCE_EXHAUSTED);
    assert.match(message, /`server\.tenant\.body_limit`/);
  });

  test("a message of any length counts until all of it has come", async (t) => {
    const served = await serve(t, engine, { bytesOfTenant: 100_000 });
    const [tenant, other] = [await served.app.tenant(schema), await served.app.tenant(schema)];
    const session = await served.openSession();
    const first = callOn(session);
    first.write(messageHead(idOf(tenant), 60_000));
    const second = callOn(session);
    second.write(messageHead(idOf(tenant), 60_000));
    assert.equal((await endOf(second)).status, status.RESOURCE_EXHAUSTED);
    await askGrpc(served, other);
    // One that is whole is not refused.
    await askGrpc(served, tenant);
    first.close();
    await until(async () => (await isTakenIn(served, tenant)) || undefined);
  });

  test("compressed messages of usual lengths are not refused", async (t) => {
    const served = await serve(t, engine, { bytesOfTenant: 200_000 });
    const tenant = await served.app.tenant(schema);
    const held = served.holdChecks(idOf(tenant));
    const session = await served.openSession();
    const question = { tenantId: idOf(tenant), ...check };
    const bytes = gzipSync(messageOf(PermissionCheckRequestSchema, question).subarray(5));
    const prefix = Buffer.from([1, 0, 0, 0, bytes.length]);
    const path = "/base.v1.Permission/Check";
    const ends = Array.from({ length: 10 }, async (_, nth) => {
      // One after the other is decompressed, and all are under way together.
      await until(async () => (held.count === nth ? true : undefined));
      const call = callOn(session, { path, headers: { "grpc-encoding": "gzip" } });
      call.end(Buffer.concat([prefix, bytes]));
      return await endOf(call);
    });
    await until(async () => (held.count === 10 ? true : undefined));
    held.letGo();
    for (const { status: code, message } of await Promise.all(ends)) {
      assert.equal(code, status.OK, message);
    }
  });

  test("a message that is too large is refused by its prefix, with the code of the error", async (t) => {
    const served = await serve(t, engine, {});
    const session = await served.openSession();
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(4 * 1024 * 1024 + 1, 1);
    const request = messageOf(PermissionCheckRequestSchema, { tenantId: "t1" });
    for (const headers of [{}, { "grpc-encoding": "gzip" }]) {
      for (const before of [[], [request]]) {
        const call = callOn(session, { headers });
        for (const part of [...before, prefix.subarray(0, 3), prefix.subarray(3)]) call.write(part);
        const { status: code, message } = await endOf(call);
        assert.equal(code, status.RESOURCE_EXHAUSTED);
        assert.equal(
          message,
          "ERROR_CODE_PAYLOAD_TOO_LARGE: request: is too large, expected at most 4 MiB",
        );
      }
    }
  });

  test("probes of health hold no large bodies", async (t) => {
    const served = await serve(t, engine, { bytesOfTenant: 100_000 });
    for (const length of ["content-length: 150000", "transfer-encoding: chunked"]) {
      const socket = await served.open();
      socket.write(`GET /healthz HTTP/1.1\r\nhost: x\r\n${length}\r\n\r\n`);
      if (length.startsWith("transfer")) socket.write(`3d090\r\n${"x".repeat(250_000)}\r\n`);
      assert.match(await answerOn(socket), /^HTTP\/1\.1 429 /);
    }
    const call = callOn(await served.openSession(), { path: "/grpc.health.v1.Health/Check" });
    call.write(messageHead("t1", 150_000));
    assert.equal((await endOf(call)).status, status.RESOURCE_EXHAUSTED);
    assert.equal((await fetch(`${served.url}/healthz`)).status, 200);
  });

  test("what probes of health hold is no part of another share", async (t) => {
    const served = await serve(t, engine, { bytesOfTenant: 100_000 });
    const session = await served.openSession();
    const probe = callOn(session, { path: "/grpc.health.v1.Health/Check" });
    probe.write(messageHead("t1", 90_000));
    // A second one is refused, so the first one was counted.
    const second = callOn(session, { path: "/grpc.health.v1.Health/Check" });
    second.write(messageHead("t1", 90_000));
    assert.equal((await endOf(second)).status, status.RESOURCE_EXHAUSTED);
    const body = JSON.stringify({ filler: "x".repeat(90_000) });
    const listed = await fetch(`${served.url}/v1/tenants/list`, { method: "POST", body });
    assert.equal(listed.status, 200);
  });
});

/** Whether a message of the tenant may hold most of its share. */
async function isTakenIn(served: Served, tenant: string): Promise<boolean> {
  const session = await served.openSession();
  const call = callOn(session, { path: "/base.v1.Data/Write" });
  call.end(
    messageOf(DataWriteRequestSchema, {
      tenantId: idOf(tenant),
      metadata: { schemaVersion: "x".repeat(90_000) },
    }),
  );
  const { status: code } = await endOf(call);
  session.close();
  return code !== status.RESOURCE_EXHAUSTED;
}
