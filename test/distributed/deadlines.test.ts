import assert from "node:assert/strict";
import { test } from "node:test";

import { pino } from "pino";

import { noTelemetry } from "../../src/base/telemetry.ts";
import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { tenantWithSchema, write } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { admitAll } from "../support/admit-all.ts";
import { serveGrpc } from "../support/grpc.ts";
import { Addresses, startInstance } from "./instances.ts";

test("a check is answered before its client stops waiting, though another instance is stuck", async (t) => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const tenant = await tenantWithSchema(store);
  const snapToken = await write(store, tenant, { tuples: ["doc:1#viewer@user:ann"] });
  const addresses = new Addresses();
  const first = await startInstance(store, addresses);
  const stuck = Promise.withResolvers<void>();
  const second = await startInstance(store, addresses, { delay: async () => await stuck.promise });
  const service = { store: first.store, health: first.health, maxDataPerWrite: 1, bulkLimit: 1 };
  const http = buildHttpServer({
    service,
    admission: admitAll,
    logger: pino({ level: "silent" }),
    telemetry: noTelemetry,
  });
  const grpc = await serveGrpc(service);
  t.after(async () => {
    stuck.resolve();
    await grpc.close();
    await http.close();
    [first, second].forEach((instance) => instance.close());
    await store.close();
  });
  await until(async () => first.peers.size === 2 || undefined);
  const users = Array.from({ length: 20 }, (_, nth) => `user${nth}`);
  const waitMs = 4_000;

  const overRest = users.map(async (id) => {
    const answer = await http.inject({
      method: "POST",
      url: `/v1/tenants/${tenant}/permissions/check`,
      headers: { "grpc-timeout": `${waitMs}m` },
      payload: {
        metadata: { snap_token: snapToken },
        entity: { type: "doc", id: "1" },
        permission: "view",
        subject: { type: "user", id },
      },
    });
    return answer.statusCode;
  });
  assert.deepEqual(
    await Promise.all(overRest),
    users.map(() => 200),
  );
  const sent = second.asked.length;
  assert.ok(sent > 0);

  const overGrpc = users.map(async (id) => {
    const request = {
      tenantId: tenant,
      metadata: { snapToken },
      entity: { type: "doc", id: "1" },
      permission: "view",
      subject: { type: "user", id },
    };
    const deadline = Date.now() + waitMs;
    const { can } = await grpc.client.call(Permission.method.check, request, { deadline });
    return can;
  });
  assert.deepEqual(
    await Promise.all(overGrpc),
    users.map(() => CheckResult.DENIED),
  );
  assert.ok(second.asked.length > sent);
});
