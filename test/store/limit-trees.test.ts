import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyContext, type TenantId } from "../../src/base/tuple.ts";
import { LargeWork } from "../../src/store/layer/large-work.ts";
import { limitTrees } from "../../src/store/layer/limit-trees.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { allowed, fails, tenantWithSchema } from "./engines.ts";
import { until } from "./open-write.ts";

const waiting = 1_000;
const refusal = "2 large answers are being made and 1000 wait, retry in a second";

const frame = { schemaVersion: undefined, snapToken: undefined, depth: 100, context: emptyContext };
const entity = { type: "doc", id: "1" };
const subject = { type: "user", id: "ada", relation: "" };

type Ask = (store: Store, tenant: TenantId, signal?: AbortSignal) => Promise<unknown>;

const explain: Ask = async (store, tenant, signal) =>
  await store.permissions.explain(tenant, {
    ...frame,
    item: { entity, permission: "view", subject, arguments: [] },
    signal,
  });

const expand: Ask = async (store, tenant, signal) =>
  await store.permissions.expand(tenant, {
    ...frame,
    entity,
    permission: "view",
    arguments: [],
    signal,
  });

/** A store with the limit, whose trees are made once a gate is open. */
async function openGated() {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const gate = Promise.withResolvers<void>();
  const begun: TenantId[] = [];
  const begin = async (tenant: TenantId): Promise<void> => {
    begun.push(tenant);
    await gate.promise;
  };
  const { permissions } = store;
  const gated: Store = {
    ...store,
    permissions: {
      check: async (...given) => await permissions.check(...given),
      subjectPermissions: async (...given) => await permissions.subjectPermissions(...given),
      expand: async (tenant, question) => {
        await begin(tenant);
        return await permissions.expand(tenant, question);
      },
      explain: async (tenant, question) => {
        await begin(tenant);
        return await permissions.explain(tenant, question);
      },
    },
  };
  return {
    limited: withLayers(gated, { trees: limitTrees(new LargeWork()) }),
    begun,
    open: gate.resolve,
  };
}

test("two explanations or expansions are made at a time, one of each tenant, and checks go on", async () => {
  const { limited, begun, open } = await openGated();
  const [first, second, third] = [
    await tenantWithSchema(limited),
    await tenantWithSchema(limited),
    await tenantWithSchema(limited),
  ];
  const asked = [first, first, second, third, third].flatMap((tenant) => [
    explain(limited, tenant),
    expand(limited, tenant),
  ]);
  await until(async () => (begun.length >= 2 ? true : undefined));
  assert.equal(
    await allowed(limited, first, { id: "1", permission: "view", subject: "ada" }),
    false,
  );
  assert.deepEqual(begun, [first, second]);
  open();
  await Promise.all(asked);
  assert.equal(begun.length, asked.length);
});

test("who stops waiting leaves room, and what is more than may wait is refused", async () => {
  const { limited, begun, open } = await openGated();
  const tenant = await tenantWithSchema(limited);
  const leaving = new AbortController();
  const running = explain(limited, tenant);
  const gone = Array.from({ length: waiting }, () => explain(limited, tenant, leaving.signal));
  const settled = Promise.allSettled(gone);
  leaving.abort();
  for (const { status } of await settled) assert.equal(status, "rejected");
  // One more, since the place that other tenants have stays free.
  const others = Array.from({ length: waiting + 1 }, () => expand(limited, tenant));
  await fails(explain(limited, tenant), "CONCURRENCY_LIMIT_EXCEEDED", refusal);
  assert.equal(begun.length, 1);
  open();
  await Promise.all([running, ...others]);
  assert.equal(begun.length, 1 + others.length);
});
