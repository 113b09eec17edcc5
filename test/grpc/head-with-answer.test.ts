import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { connectGrpc, serveGrpc } from "../support/grpc.ts";

test("the head of a call goes out with its answer", async (t) => {
  const memory = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const permissions: Store["permissions"] = {
    ...memory.permissions,
    check: async () => {
      // As long as a database takes at least.
      for (let round = 0; round < 3; round += 1) await nextRound();
      return [{ allowed: true, nodes: 1 }];
    },
  };
  const store = { ...memory, permissions };
  const health = createHealth(store);
  const grpc = await serveGrpc({ store, health, maxDataPerWrite: 1, bulkLimit: 1 });
  t.after(async () => await grpc.close());

  /** Stands between client and server, and counts what comes from the server. */
  let chunks = 0;
  const proxy = createServer((client) => {
    const server = connect(grpc.port, "127.0.0.1");
    client.pipe(server);
    server.on("data", (chunk) => {
      chunks += 1;
      client.write(chunk);
    });
    client.on("close", () => server.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  const client = connectGrpc(`127.0.0.1:${port}`, { isAlone: true });
  t.after(() => {
    client.close();
    proxy.close();
  });

  const ask = async (): Promise<unknown> =>
    await client.call(Permission.method.check, {
      tenantId: "t1",
      metadata: {},
      entity: { type: "doc", id: "1" },
      permission: "view",
      subject: { type: "user", id: "ada" },
    });
  // The connection is set up with the first one.
  await ask();
  chunks = 0;
  await ask();
  // What comes in one read was written at once. The status of a stream of Node is a write of its own.
  assert.ok(chunks <= 2, `${chunks} writes`);
});
