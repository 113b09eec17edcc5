import assert from "node:assert/strict";
import { test } from "node:test";

import { Caller, forCaller } from "../../src/base/caller.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { limitReads } from "../../src/store/layer/limit-concurrency.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { fails, tenantWithSchema, write } from "./engines.ts";

const connections = 2;
const waiting = 20;
const refusal =
  "2 reads are being worked on (`database.max_connections`) and 20 wait, retry in a second";

/** A store of which schemas can be read once a gate is open. */
function gated(store: Store, gate: Promise<void>, began: () => void = () => {}): Store {
  const read: Store["schemas"]["read"] = async (...given) => {
    began();
    await gate;
    return await store.schemas.read(...given);
  };
  return { ...store, schemas: { ...store.schemas, read } };
}

/** One of each kind of read of a tenant. */
function readsOf(store: Store, tenant: TenantId, signal: AbortSignal): Promise<unknown>[] {
  const page = { snapToken: undefined, after: undefined, limit: 10 };
  const entity = { type: "doc", ids: [] };
  const subject = { type: "", ids: [], relation: "" };
  return [
    store.schemas.read(tenant, undefined),
    store.schemas.list(tenant, { before: undefined, limit: 10 }),
    store.bundles.read(tenant, "b"),
    store.data.readTuples(tenant, { ...page, filter: { entity, relation: "", subject } }),
    store.data.readAttributes(tenant, { ...page, filter: { entity, attributes: [] } }),
    store.changes.follow(tenant, { after: undefined, signal }),
  ];
}

test("so many reads wait for those that are worked on: what is more is refused, and changes are not", async () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const tenant = await tenantWithSchema(store);
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const limited = withLayers(
    gated(store, gate.promise, () => begun++),
    { reads: limitReads(connections) },
  );
  const read = async (): Promise<unknown> => await limited.schemas.read(tenant, undefined);
  const leaving = new AbortController();
  const reads = Array.from({ length: connections + waiting - 1 }, read);
  const leaver = forCaller(new Caller(leaving), read);
  for (const refused of readsOf(limited, tenant, leaving.signal)) {
    await fails(refused, "CONCURRENCY_LIMIT_EXCEEDED", refusal);
  }
  assert.equal(begun, connections);
  await write(limited, tenant, { tuples: ["doc:1#owner@user:a"] });

  leaving.abort();
  await fails(leaver, "CANCELLED");
  reads.push(read());
  gate.resolve();
  await Promise.all(reads);
  assert.equal(begun, connections + waiting);
  await store.close();
});

test("a tenant whose reads fill the queue makes room for those of another one and for lists of tenants", async () => {
  const store = createMemoryStore({
    maxSchemaCacheBytes: 1_000_000,
    watch: { readAheadMax: 10 },
  });
  const [tenant, other] = [await tenantWithSchema(store), await tenantWithSchema(store)];
  await store.bundles.write(other, [{ name: "b", arguments: [], operations: [] }]);
  const gate = Promise.withResolvers<void>();
  const limited = withLayers(gated(store, gate.promise), { reads: limitReads(connections) });
  const reads = Array.from(
    { length: connections + waiting },
    async () => await limited.schemas.read(tenant, undefined),
  );
  const watching = new AbortController();
  const others = [
    ...readsOf(limited, other, watching.signal),
    limited.tenants.list({ after: undefined, limit: 10 }),
  ];
  for (const refused of reads.slice(-others.length)) {
    await fails(refused, "CONCURRENCY_LIMIT_EXCEEDED", refusal);
  }
  gate.resolve();
  await Promise.all([...others, ...reads.slice(0, -others.length)]);
  watching.abort();
  await store.close();
});
