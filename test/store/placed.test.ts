/** Tenants on several databases: where they are, and what happens on the way there. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test, type TestContext } from "node:test";

import type postgres from "postgres";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken } from "../../src/base/tuple.ts";
import { joinDirectory } from "../../src/store/placed/membership.ts";
import { openPlacedStore } from "../../src/store/placed/open.ts";
import { onceServerAnswers } from "../../src/store/postgres/await-server.ts";
import { silence, unknownOutcome } from "../../src/store/postgres/connect/driver-error.ts";
import { onDatabase } from "../../src/store/postgres/connect/on-database.ts";
import type { Store } from "../../src/store/store.ts";
import { interfaceOptions } from "../sql-interface/interface-scene.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { openLine } from "../support/line.ts";
import { openPlacedOver, type PlacedDatabases } from "../support/placed-databases.ts";
import { tokenKey } from "../support/token-key.ts";
import {
  allowed,
  fails,
  newTenant,
  openPlaced,
  openStore,
  pool,
  tenantId,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { connect } from "./open-write.ts";

let placed: PlacedDatabases;
let store: Store;
/** Connections of the test's own to the databases of the clusters, in the order of their names. */
let sql: readonly postgres.Sql[];

before(async () => {
  placed = await openPlaced();
  store = placed.store;
  sql = placed.urls.map((url) => connect(url, 1));
});

after(async () => {
  await Promise.all(sql.map(async (one) => await one.end({ timeout: 1 })));
  await placed.close();
});

/** Another instance over the databases of the clusters, in this order. */
async function openOn(t: TestContext, urls: readonly string[]): Promise<Store> {
  const opened = await openPlacedOver(urls, { pool }, async (url, tokens) =>
    openStore(url, tokens),
  );
  t.after(async () => await opened.close());
  return opened;
}

/** Which of the databases have the tenant. */
async function databasesWith(id: string): Promise<readonly string[]> {
  const found = await Promise.all(
    sql.map(async (one) => (await one`select from tenants where id = ${id}`).length > 0),
  );
  return ["a", "b", "c"].filter((_name, index) => found[index]);
}

/** To the database of the directory. */
function toDirectory(): postgres.Sql {
  return sql[0] ?? assert.fail("there is no database");
}

async function stateOf(id: string): Promise<string | undefined> {
  const [row] = await toDirectory()<{ state: string }[]>`
    select state from placements where tenant = ${id}`;
  return row?.state;
}

async function noteState(id: string, state: string, cluster: string): Promise<void> {
  await toDirectory()`
    insert into placements (tenant, cluster, state, name) values (${id}, ${cluster}, ${state}, '')
    on conflict (tenant) do update set state = ${state}`;
}

async function listed(id: string): Promise<boolean> {
  const among = new Set([id]);
  const { items } = await store.tenants.list({ after: undefined, limit: 1, among });
  return items.length > 0;
}

test("a tenant is on the cluster that its creation names, and on no other one", async () => {
  for (const cluster of ["a", "b", "c"]) {
    const id = await tenantWithSchema(store, cluster);
    await write(store, id, { tuples: ["doc:1#owner@user:1"] });
    assert.ok(await allowed(store, id, { id: "1", permission: "view", subject: "1" }));
    assert.deepEqual(await databasesWith(id), [cluster]);
  }
});

test("a creation that names no cluster of the configuration is refused, and leaves nothing", async () => {
  const id = tenantId("nowhere");
  await fails(store.tenants.create({ id, name: "", cluster: "d" }), "VALIDATION", "`a`, `b`, `c`");
  assert.equal(await stateOf(id), undefined);
});

test("new tenants are on all clusters", async () => {
  const used = new Set<string>();
  for (let n = 0; n < 30; n++) {
    const { cluster } = await store.tenants.create({ id: tenantId(`share-${n}`), name: "" });
    used.add(cluster ?? "");
  }
  assert.deepEqual([...used].toSorted(), ["a", "b", "c"]);
});

test("the example tenant is on the cluster of the directory alone", async () => {
  assert.deepEqual(await databasesWith("t1"), ["a"]);
});

test("an instance finds tenants that another one has created, deleted and created elsewhere", async (t) => {
  const other = await openOn(t, placed.urls);
  const id = await newTenant(store, "b");
  const list = { before: undefined, limit: 1 };
  await other.schemas.list(id, list);
  await store.tenants.delete(id);
  await fails(other.schemas.list(id, list), "TENANT_NOT_FOUND");
  await store.tenants.create({ id, name: "", cluster: "b" });
  await other.schemas.list(id, list);
  await store.tenants.delete(id);
  await store.tenants.create({ id, name: "", cluster: "c" });
  await other.schemas.list(id, list);
  assert.deepEqual(await databasesWith(id), ["c"]);
});

test("a token of another cluster is expired", async () => {
  const one = await tenantWithSchema(store, "b");
  const other = await tenantWithSchema(store, "c");
  const at = await write(store, one, { tuples: ["doc:1#owner@user:1"] });
  const asked = allowed(store, other, { id: "1", permission: "view", subject: "1", at });
  await fails(asked, "SNAP_TOKEN_EXPIRED", "use a token of a newer answer");
});

test("a token that SQL gave out on another cluster is expired, too", async (t) => {
  const own = await openPlaced({ sql: interfaceOptions });
  const [, url = ""] = own.urls;
  const there = connect(url, 1);
  t.after(async () => {
    await there.end({ timeout: 1 });
    await own.close();
  });
  const one = await tenantWithSchema(own.store, "b");
  const other = await tenantWithSchema(own.store, "c");
  const [row] = await there<{ token: SnapToken }[]>`select pemba.token(${one})`;
  const at = row?.token ?? assert.fail("there is no token");
  const asked = { id: "1", permission: "view", subject: "1" };
  assert.equal(await allowed(own.store, one, { ...asked, at }), false);
  await fails(allowed(own.store, other, { ...asked, at }), "SNAP_TOKEN_EXPIRED");
  const changed = `${at.slice(0, -1)}${at.endsWith("A") ? "B" : "A"}` as SnapToken;
  await fails(allowed(own.store, one, { ...asked, at: changed }), "INVALID_SNAP_TOKEN");
});

test("a creation that broke off before its cluster had the tenant is continued", async () => {
  const id = tenantId("begun");
  await noteState(id, "creating", "b");
  assert.equal(await listed(id), false);
  await fails(store.tenants.delete(id), "TENANT_NOT_FOUND");
  const created = await store.tenants.create({ id, name: "", cluster: "c" });
  assert.equal(created.cluster, "c");
  assert.deepEqual([await stateOf(id), await databasesWith(id)], ["placed", ["c"]]);
});

test("a creation that broke off after its cluster had the tenant counts", async () => {
  const id = await newTenant(store, "b");
  for (const cluster of ["b", "c"]) {
    await noteState(id, "creating", "b");
    await fails(store.tenants.create({ id, name: "", cluster }), "UNIQUE_CONSTRAINT");
    assert.equal(await listed(id), true);
    assert.deepEqual(await databasesWith(id), ["b"]);
  }
  await noteState(id, "creating", "b");
  await store.tenants.delete(id);
  assert.deepEqual([await stateOf(id), await databasesWith(id)], [undefined, []]);
});

test("after a deletion that broke off, the id is free if the cluster has deleted the tenant", async () => {
  const kept = await newTenant(store, "b");
  await noteState(kept, "deleting", "b");
  await fails(store.tenants.create({ id: kept, name: "" }), "UNIQUE_CONSTRAINT");
  for (const state of ["deleting", "placed"]) {
    const gone = tenantId(`gone-${state}`);
    await noteState(gone, state, "b");
    const created = await store.tenants.create({ id: gone, name: "", cluster: "c" });
    assert.equal(created.cluster, "c");
  }
});

test("what an instance with one database creates and deletes is found, and listed so from the next start on", async (t) => {
  const [url = ""] = placed.urls;
  const alone = await openStore(url);
  t.after(async () => await alone.close());
  const id = await tenantWithSchema(alone);
  await write(store, id, { tuples: ["doc:1#owner@user:1"] });
  assert.ok(await listed(id));
  const later = await newTenant(alone);
  await alone.tenants.delete(id);
  await openOn(t, placed.urls);
  assert.deepEqual([await listed(later), await listed(id)], [true, false]);
});

test("databases that are not those of one directory are refused, and nothing is changed", async (t) => {
  const [a = "", b = "", c = ""] = placed.urls;
  const opening = async (...urls: readonly string[]): Promise<Store> => await openOn(t, urls);
  await fails(opening(b, a, c), "INVALID_ARGUMENT", "database.directory");
  const first = await createMigratedDatabase();
  t.after(first.drop);
  await fails(opening(first.url, b, a, c), "INVALID_ARGUMENT", "database.directory: names `a`");
  const there = connect(first.url, 1);
  const directories = await there`select from directory`;
  await there.end({ timeout: 1 });
  assert.equal(directories.length, 0);
  await newTenant(store, "c");
  await fails(opening(a, b), "INVALID_ARGUMENT", "does not name `c`");
  await fails(opening(a, c, b), "INVALID_ARGUMENT", "is that of the cluster");
  const { urls, close } = await openPlaced();
  t.after(close);
  await fails(opening(a, b, c, urls[1] ?? ""), "INVALID_ARGUMENT", "another directory");
  await fails(opening(a, b, c, urls[0] ?? ""), "INVALID_ARGUMENT", "has placements");
  const empty = await createMigratedDatabase();
  t.after(empty.drop);
  await fails(opening(a, b, empty.url), "INVALID_ARGUMENT", "is a new one");
  assert.deepEqual(await databasesWith("t1"), ["a"]);
});

test("a database that is a copy of that of another cluster is refused, and joins nothing", async (t) => {
  const empty = await createMigratedDatabase();
  t.after(empty.drop);
  await onDatabase(empty.url, async (copy) => {
    const places = new Map([[copy.greeting.place, "main"]]);
    const joining = { name: "east", directory: randomUUID(), tenants: async () => 0, places };
    await fails(
      joinDirectory(copy, joining),
      "INVALID_ARGUMENT",
      "the databases of `main` and `east` have one system identifier",
    );
    // As its own cluster it joins, and the next start finds it there.
    places.clear();
    await joinDirectory(copy, joining);
    await joinDirectory(copy, joining);
    const renamed = { ...joining, places: new Map([[copy.greeting.place, "main"]]) };
    await fails(joinDirectory(copy, renamed), "INVALID_ARGUMENT", "one system identifier");
  });
});

test("a start that fails names the cluster whose database cannot be used", async () => {
  for (const [index, name] of ["a", "b", "c"].entries()) {
    const opening = openPlacedOver(placed.urls, { pool }, async (url, tokens) => {
      if (url === placed.urls[index]) throw new PembaError("MIGRATION", "it lacks tables");
      return await openStore(url, tokens);
    });
    await fails(opening, "MIGRATION", `cluster \`${name}\`: it lacks tables`);
  }
});

test("a database that has tenants joins no directory, and keeps its example tenant", async (t) => {
  const used = await createMigratedDatabase();
  const alone = await openStore(used.url);
  t.after(async () => {
    await alone.close();
    await used.drop();
  });
  await newTenant(alone);
  await fails(openOn(t, [...placed.urls, used.url]), "INVALID_ARGUMENT", "has tenants of its own");
  const { items } = await alone.tenants.list({ after: undefined, limit: 3 });
  assert.equal(items.length, 2);
});

test("a start repeats its work after a change whose outcome is not known", async (t) => {
  let tries = 0;
  const patience = { timeoutMs: 60_000, signal: t.signal, onAbsent: () => {} };
  await onceServerAnswers(placed.urls[0] ?? "", patience, async () => {
    if (tries++ === 0) throw unknownOutcome(silence());
  });
  assert.equal(tries, 2);
});

test("a start waits for the directory that goes away after its cluster was opened", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  const line = await openLine(t, url);
  let opened = 0;
  let absent = 0;
  const started = await openPlacedStore({
    clusters: [
      {
        name: "a",
        weight: 1,
        url: line.url,
        prepare: async () => {},
        open: async () => {
          const engine = await openStore(url);
          if (opened++ === 0) await line.cut();
          return engine;
        },
        warn: () => {},
      },
    ],
    directory: "a",
    tokenKey,
    database: { pool },
    patience: {
      timeoutMs: 60_000,
      signal: t.signal,
      onAbsent: () => {
        absent++;
        void line.mend();
      },
    },
    warn: () => {},
  });
  t.after(async () => {
    await started.close();
    await drop();
  });
  assert.equal(absent, 1);
  await newTenant(started);
});
