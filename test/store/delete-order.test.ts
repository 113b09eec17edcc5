/**
 * Deletes and runs of bundles that overlap with writes: who waits for whom, and what the log says
 * afterwards.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { DataOperation } from "../../src/store/bundle.ts";
import type { Store } from "../../src/store/store.ts";
import { changesOf, replay, storedState } from "./change-log.ts";
import {
  allowed,
  attribute,
  openPostgres,
  type OpenStore,
  tenantWithSchema,
  tuple,
  write,
} from "./engines.ts";
import { remove } from "./filters.ts";
import { beginWrite, connect, untilWaiting } from "./open-write.ts";

let open: OpenStore;
let store: Store;
let sql: postgres.Sql;

before(async () => {
  const opened = await openPostgres({ maxRetries: 0 });
  open = opened;
  store = opened.store;
  sql = connect(opened.url);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await open.close();
});

const asked = { id: "1", permission: "view", subject: "a" };
const named = { tuples: { ids: ["1"], relation: "owner", subjectIds: ["a"] } };

test("a delete of a named tuple waits for the transaction that creates it, and then deletes it", async () => {
  const tenant = await tenantWithSchema(store);
  const other = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:a"] });
  const deleting = remove(store, tenant, named);
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
  // Takes an id in between, which the delete must not lie below.
  await write(store, tenant, { tuples: ["doc:2#owner@user:b"] });
  await other.commit();
  const token = await deleting;
  assert.equal(await allowed(store, tenant, asked), false);
  assert.equal(await allowed(store, tenant, { ...asked, at: token }), false);
  assert.deepEqual(replay(await changesOf(sql, tenant)), await storedState(sql, tenant));
});

test("a delete of a named tuple or attribute does not wait for writes of other keys", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  const other = await beginWrite(sql, tenant, {
    tuples: ["doc:77#viewer@user:z"],
    attributes: [attribute("limit", { type: "integer", data: 1 }, "77")],
  });
  const token = await remove(store, tenant, {
    ...named,
    attributes: { ids: ["1"], names: ["public", "limit"] },
  });
  assert.equal(await allowed(store, tenant, { ...asked, at: token }), false);
  await other.commit();
});

test("a delete by an open filter waits for every write of its tenant, and for none of another", async () => {
  const [tenant, neighbour] = [await tenantWithSchema(store), await tenantWithSchema(store)];
  const foreign = await beginWrite(sql, neighbour, { tuples: ["doc:1#owner@user:a"] });
  const other = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:a"] });
  const deleting = remove(store, tenant, { tuples: { type: "doc" } });
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
  await other.commit();
  await deleting;
  assert.equal(await allowed(store, tenant, asked), false);
  await foreign.commit();
  assert.equal(await allowed(store, neighbour, asked), true);
});

test("a delete of more named keys than are locked one by one still deletes them all", async () => {
  const tenant = await tenantWithSchema(store);
  const ids = Array.from({ length: 40 }, (_, index) => String(index));
  for (const id of ids) {
    await write(store, tenant, { tuples: ids.map((user) => `doc:${id}#owner@user:${user}`) });
  }
  await remove(store, tenant, {
    tuples: { type: "doc", ids, relation: "owner", subjectType: "user", subjectIds: ids },
  });
  assert.equal((await storedState(sql, tenant)).size, 0);
  assert.equal(replay(await changesOf(sql, tenant)).size, 0);
});

test("what a run creates and deletes again is in the log, and in no state", async () => {
  const tenant = await tenantWithSchema(store);
  const operation: DataOperation = {
    tuples: [tuple("doc:1#owner@user:a")],
    attributes: [attribute("public", { type: "boolean", data: true })],
    deletedTuples: [tuple("doc:1#owner@user:a")],
    deletedAttributes: [attribute("public", { type: "boolean", data: true })],
  };
  await store.bundles.write(tenant, [{ name: "b", arguments: [], operations: [] }]);
  const token = await store.bundles.run(tenant, "b", () => [operation, operation]);
  assert.equal(await allowed(store, tenant, { ...asked, at: token }), false);
  const changes = await changesOf(sql, tenant);
  assert.equal(changes.length, 8);
  assert.equal(new Set(changes.map(({ xid }) => xid)).size, 1);
  assert.equal(replay(changes).size, 0);
});

test("writers and deleters of the same keys never deadlock, and the log replays to what is stored", async () => {
  const tenant = await tenantWithSchema(store);
  await store.bundles.write(tenant, [{ name: "b", arguments: [], operations: [] }]);
  const keys = Array.from({ length: 12 }, (_, index) => String(index));
  const rotated = (by: number): readonly string[] => [...keys.slice(by), ...keys.slice(0, by)];
  // Without a retry: a single deadlock would fail its statement.
  await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const ids = rotated(index % keys.length);
      const tuples = ids.map((id) => `doc:${id}#owner@user:a`);
      const attributes = ids
        .slice(0, 4)
        .map((id) => attribute("limit", { type: "integer", data: index }, id));
      switch (index % 5) {
        case 0:
        case 1:
          return await write(store, tenant, { tuples, attributes });
        case 2:
          return await remove(store, tenant, {
            tuples: { ids: ids.slice(0, 6), relation: "owner", subjectIds: ["a"] },
            attributes: { ids: ids.slice(0, 6), names: ["limit"] },
          });
        case 3:
          return await remove(store, tenant, { tuples: { type: "doc", ids: ids.slice(0, 3) } });
        default:
          return await store.bundles.run(tenant, "b", () => [
            {
              tuples: tuples.slice(0, 6).map(tuple),
              attributes: [],
              deletedTuples: tuples.slice(3, 9).map(tuple),
              deletedAttributes: attributes,
            },
          ]);
      }
    }),
  );
  const changes = await changesOf(sql, tenant);
  assert.deepEqual(replay(changes), await storedState(sql, tenant));
  assert.ok(changes.some(({ operation }) => operation === "delete"));
});
