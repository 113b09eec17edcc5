import assert from "node:assert/strict";
import { test } from "node:test";

import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { serveGrpc } from "../support/grpc.ts";

test("a client that got its answer does not count as gone", async () => {
  const memory = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const signals: (AbortSignal | undefined)[] = [];
  const permissions: Store["permissions"] = {
    ...memory.permissions,
    check: async (_tenant, { signal }) => {
      signals.push(signal);
      return [{ allowed: true, nodes: 1 }];
    },
  };
  const store = { ...memory, permissions };
  const grpc = await serveGrpc({
    store,
    health: createHealth(store),
    maxDataPerWrite: 1,
    bulkLimit: 1,
  });
  await grpc.client.call(Permission.method.check, {
    tenantId: "t1",
    metadata: {},
    entity: { type: "doc", id: "1" },
    permission: "view",
    subject: { type: "user", id: "ada" },
  });
  // Every call has ended then, also for the library.
  await grpc.close();
  assert.deepEqual(
    signals.map((signal) => signal?.aborted),
    [false],
  );
});
