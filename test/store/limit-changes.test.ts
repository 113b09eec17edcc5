import assert from "node:assert/strict";
import { test } from "node:test";

import { Caller, forCaller } from "../../src/base/caller.ts";
import { PembaError } from "../../src/base/error.ts";
import { limitChanges } from "../../src/store/layer/limit-changes.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { allowed, fails, openPostgres, pool, tenantWithSchema, write } from "./engines.ts";
import { connect, until, untilWaiting } from "./open-write.ts";

const connections = 4;
const running = { all: 3, ofTenant: 2 };
const waiting = { all: 1_000, ofTenant: 500 };

test("while changes of a tenant wait for a lock, another one is checked and changed, and storage answers", async () => {
  const { store, url, close } = await openPostgres({
    pool: { ...pool, maxConnections: connections },
  });
  const limited = withLayers(store, { changes: limitChanges(connections) });
  const [held, other] = [await tenantWithSchema(store), await tenantWithSchema(store)];
  const sql = connect(url);
  const holder = await sql.reserve();
  await holder`begin`;
  await holder`select pg_advisory_xact_lock(lock_key(number, 0)) from tenants where id = ${held}`;
  const writes = Array.from({ length: 25 }, (_, index) =>
    write(limited, held, { tuples: [`doc:${index}#owner@user:a`] }),
  );
  await untilWaiting(sql, running.ofTenant);
  await write(limited, other, { tuples: ["doc:1#owner@user:a"] });
  const asked = { id: "1", permission: "view", subject: "a" };
  assert.equal(await allowed(limited, other, asked), true);
  assert.equal(await allowed(limited, held, asked), false);
  await limited.ping();
  assert.equal((await untilWaiting(sql, running.ofTenant)).length, running.ofTenant);
  await holder`commit`;
  holder.release();
  await Promise.all(writes);
  assert.equal(await allowed(limited, held, { ...asked, id: "24" }), true);
  await sql.end({ timeout: 1 });
  await close();
});

test("storage answers while every connection is taken", async () => {
  const { store, url, close } = await openPostgres({
    pool: { ...pool, maxConnections: connections },
  });
  const tenant = await tenantWithSchema(store);
  const sql = connect(url);
  const holder = await sql.reserve();
  await holder`begin`;
  await holder`select pg_advisory_xact_lock(lock_key(number, 0)) from tenants where id = ${tenant}`;
  const writes = Array.from({ length: 2 * connections }, (_, index) =>
    write(store, tenant, { tuples: [`doc:${index}#owner@user:a`] }),
  );
  await untilWaiting(sql, connections);
  await store.ping();
  await holder`commit`;
  holder.release();
  await Promise.all(writes);
  await sql.end({ timeout: 1 });
  await close();
});

test("however many tenants are blocked in the storage, another one is changed and checked", async () => {
  const { store, url, close } = await openPostgres({
    pool: { ...pool, maxConnections: connections },
    lockWaitMs: 50,
  });
  const limited = withLayers(store, { changes: limitChanges(connections) });
  const held = await Promise.all(
    Array.from({ length: 2 * connections }, async () => await tenantWithSchema(store)),
  );
  const other = await tenantWithSchema(store);
  // A single tuple takes the fast path in a tenant with earlier writes.
  for (const tenant of held.slice(connections)) await write(store, tenant, {});
  const sql = connect(url);
  const holder = await sql.reserve();
  await holder`begin`;
  await holder`
    select pg_advisory_xact_lock(lock_key(number, 0)) from tenants where id = any(${sql.array([...held])})
  `;
  const tuples = ["doc:1#owner@user:a"];
  const nothing = { tuples: undefined, attributes: undefined };
  const blocked = held.flatMap((tenant) => [
    write(limited, tenant, { tuples }),
    limited.data.delete(tenant, nothing),
    write(limited, tenant, { tuples }),
  ]);
  await untilWaiting(sql, running.all);
  for (let round = 0; round < 3; round++) {
    await write(limited, other, { tuples: [`doc:${round}#owner@user:a`] });
  }
  const asked = { id: "1", permission: "view", subject: "a" };
  assert.equal(await allowed(limited, other, asked), true);
  await holder`commit`;
  holder.release();
  await Promise.all(blocked);
  for (const tenant of held) assert.equal(await allowed(limited, tenant, asked), true);
  await sql.end({ timeout: 1 });
  await close();
});

test("a tenant whose changes are blocked has one at a time in the storage, until one gets through", async () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const tenant = await tenantWithSchema(store);
  const tries: PromiseWithResolvers<void>[] = [];
  const limited = withLayers(
    {
      ...store,
      data: {
        ...store.data,
        write: async (...given) => {
          const turn = Promise.withResolvers<void>();
          tries.push(turn);
          await turn.promise;
          return await store.data.write(...given);
        },
      },
    },
    {
      changes: limitChanges(2 * connections),
    },
  );
  const untilTried = async (count: number): Promise<void> =>
    void (await until(async () => (tries.length === count ? true : undefined)));
  const blocked = new PembaError("CHANGE_BLOCKED", "another one holds it");
  const writes = Array.from({ length: 3 }, async (_, index) =>
    write(limited, tenant, { tuples: [`doc:${index}#owner@user:a`] }),
  );
  await untilTried(3);
  for (const turn of tries.slice(0, 3)) turn.reject(blocked);
  await untilTried(4);
  tries[3]?.reject(blocked);
  await untilTried(5);
  tries[4]?.resolve();
  await Promise.race(writes);
  const late = write(limited, tenant, { tuples: ["doc:late#owner@user:a"] });
  await untilTried(7);
  for (const turn of tries) turn.resolve();
  await untilTried(8);
  for (const turn of tries) turn.resolve();
  await Promise.all([...writes, late]);
  await store.close();
});

test("a change leaves the queue, or stops trying, when its caller leaves", async () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const tenant = await tenantWithSchema(store);
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const limited = withLayers(
    gated(store, gate.promise, () => begun++),
    {
      changes: limitChanges(connections),
    },
  );
  const leaving = new AbortController();
  const tuples = ["doc:1#owner@user:a"];
  const change = async (): Promise<unknown> => await write(limited, tenant, { tuples });
  const begins = Array.from({ length: running.ofTenant }, () =>
    forCaller(new Caller(leaving), change),
  );
  const waits = forCaller(new Caller(leaving), change);
  leaving.abort();
  await fails(waits, "CANCELLED");
  assert.equal(begun, running.ofTenant);
  gate.reject(new PembaError("CHANGE_BLOCKED", "another one holds it"));
  for (const each of begins) await fails(each, "CANCELLED");
  await store.close();
});

/** A store of which every change waits at a gate. */
function gated(store: Store, gate: Promise<void>, began: () => void): Store {
  const pass = async <T>(work: () => Promise<T>): Promise<T> => {
    began();
    await gate;
    return await work();
  };
  const { tenants, schemas, data, bundles } = store;
  return {
    ...store,
    tenants: {
      ...tenants,
      create: async (...given) => await pass(() => tenants.create(...given)),
      delete: async (...given) => await pass(() => tenants.delete(...given)),
    },
    schemas: { ...schemas, write: async (...given) => await pass(() => schemas.write(...given)) },
    data: {
      ...data,
      write: async (...given) => await pass(() => data.write(...given)),
      delete: async (...given) => await pass(() => data.delete(...given)),
    },
    bundles: {
      ...bundles,
      write: async (...given) => await pass(() => bundles.write(...given)),
      delete: async (...given) => await pass(() => bundles.delete(...given)),
      run: async (...given) => await pass(() => bundles.run(...given)),
    },
  };
}

test("so many changes of a tenant wait, and so many of all: what is more is refused at once", async () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const [first, second, third] = [
    await tenantWithSchema(store),
    await tenantWithSchema(store),
    await tenantWithSchema(store),
  ];
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const limited = withLayers(
    gated(store, gate.promise, () => begun++),
    {
      changes: limitChanges(connections),
    },
  );
  const tuples = ["doc:1#owner@user:a"];
  const some = async (tenant: typeof first, count: number): Promise<unknown> =>
    await Promise.all(Array.from({ length: count }, () => write(limited, tenant, { tuples })));

  const ofFirst = some(first, running.ofTenant + waiting.ofTenant);
  await fails(
    write(limited, first, { tuples }),
    "CONCURRENCY_LIMIT_EXCEEDED",
    "500 changes of the tenant wait already, retry in a second",
  );
  const ofSecond = some(second, running.all + waiting.all - running.ofTenant - waiting.ofTenant);
  const none = { tuples: undefined, attributes: undefined };
  const bundle = { name: "b", arguments: [], operations: [] };
  for (const change of [
    write(limited, third, { tuples }),
    limited.data.delete(third, none),
    limited.schemas.write(third, { text: "entity user {}" }),
    limited.bundles.write(third, [bundle]),
    limited.bundles.run(third, "b", () => []),
    limited.bundles.delete(third, "b"),
    limited.tenants.create({ id: third, name: "" }),
    limited.tenants.delete(third),
  ]) {
    await fails(
      change,
      "CONCURRENCY_LIMIT_EXCEEDED",
      "1000 changes wait already, retry in a second",
    );
  }
  assert.equal(begun, running.all);
  assert.equal((await limited.tenants.list({ after: undefined, limit: 10 })).items.length, 4);

  gate.resolve();
  await Promise.all([ofFirst, ofSecond]);
  await write(limited, third, { tuples });
  await limited.tenants.delete(third);
  await limited.close();
});
