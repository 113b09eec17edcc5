/** Creations and deletions of placed tenants that meet others, or broke off. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { Cluster } from "../../src/store/placed/cluster.ts";
import { Clusters } from "../../src/store/placed/clusters.ts";
import { Directory } from "../../src/store/placed/directory.ts";
import { Moving } from "../../src/store/placed/moving.ts";
import { Placements } from "../../src/store/placed/placements.ts";
import { PlacedTenants } from "../../src/store/placed/tenants.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import type { Store, TenantStore } from "../../src/store/store.ts";
import type { PlacedDatabases } from "../support/placed-databases.ts";
import { fails, newTenant, openPlaced, openStore, pool, tenantId } from "./engines.ts";

/** Two of the clusters have placements that are tested here. */
type Name = "a" | "b";

let placed: PlacedDatabases;
let database: Database;
let directory: Directory;
let stores: Readonly<Record<Name, Store>>;

before(async () => {
  placed = await openPlaced();
  const [a = "", b = ""] = placed.urls;
  database = await Database.connect({ url: a, pool, warn: () => {} });
  directory = new Directory(database, "a");
  stores = { a: await openStore(a), b: await openStore(b) };
});

after(async () => {
  await Promise.all([stores.a.close(), stores.b.close(), directory.close()]);
  await placed.close();
});

/** The tenants, where a cluster does some things in another way. */
function tenantsWith(changed: { readonly [name in Name]?: Partial<TenantStore> }): PlacedTenants {
  const clusters = (["a", "b"] as const).map((name) => {
    const store = stores[name];
    const other = { ...store, tenants: { ...store.tenants, ...changed[name] } };
    const open = async (): Promise<Store> => await Promise.resolve(other);
    return Cluster.opened({ name, weight: 1, url: "", open, warn: () => {} }, other);
  });
  const placements = new Placements(directory);
  return new PlacedTenants({
    directory,
    placements,
    moving: new Moving(directory),
    clusters: new Clusters(clusters),
  });
}

const never = new AbortController().signal;

/** Notes that something was begun ten minutes ago. */
async function noteOld(id: TenantId, state: string, cluster: string): Promise<void> {
  await database.query(
    `insert into placements (tenant, cluster, state, name, changed_at)
    values ($1::text, $2::text, $3::text, '', now() - interval '10 minutes')
    on conflict (tenant) do update set state = excluded.state, changed_at = excluded.changed_at`,
    [id, cluster, state],
  );
}

async function stateOf(id: TenantId): Promise<string | undefined> {
  return (await directory.read(id))?.state;
}

test("what was begun long ago is ended by what the cluster has", async () => {
  const [made, kept] = [await newTenant(placed.store, "b"), await newTenant(placed.store, "b")];
  const [unmade, gone] = [tenantId("unmade"), tenantId("gone")];
  const begun = [
    [made, "creating"],
    [kept, "deleting"],
    [unmade, "creating"],
    [gone, "deleting"],
  ] as const;
  for (const [id, state] of begun) await noteOld(id, state, "b");
  const fresh = tenantId("fresh");
  await directory.begin({ id: fresh, name: "" }, "b");
  await tenantsWith({}).settleOld(never);
  assert.deepEqual(await Promise.all([made, kept, unmade, gone, fresh].map(stateOf)), [
    "placed",
    "placed",
    undefined,
    undefined,
    "creating",
  ]);
});

test("a cluster that does not answer leaves what was begun on others to be ended", async () => {
  const [near, far] = [tenantId("near"), tenantId("far")];
  await noteOld(far, "creating", "a");
  await noteOld(near, "creating", "b");
  const list = (): never => {
    throw new PembaError("UNAVAILABLE", "it does not answer");
  };
  await tenantsWith({ a: { list } }).settleOld(never);
  assert.deepEqual([await stateOf(near), await stateOf(far)], [undefined, "creating"]);
  await tenantsWith({}).settleOld(never);
  assert.equal(await stateOf(far), undefined);
});

test("a tenant is gone that another request found and kept just before it was deleted", async () => {
  const id = await newTenant(placed.store, "b");
  const tenants = tenantsWith({
    b: {
      delete: async (tenant) => {
        const placement = (await directory.read(tenant)) ?? assert.fail("it has a placement");
        await directory.keep(placement);
        await stores.b.tenants.delete(tenant);
      },
    },
  });
  await tenants.delete(id);
  assert.equal(await stateOf(id), undefined);
});

test("a creation that another cluster may still end is led to no other one while that does not answer", async () => {
  const id = tenantId("doubtful");
  const silent = (): never => {
    throw new PembaError("UNAVAILABLE", "it does not answer");
  };
  const tenants = tenantsWith({ b: { create: silent, list: silent } });
  await fails(tenants.create({ id, name: "", cluster: "b" }), "UNAVAILABLE");
  await fails(tenants.create({ id, name: "", cluster: "a" }), "UNAVAILABLE");
  await stores.b.tenants.create({ id, name: "" });
  await fails(tenantsWith({}).create({ id, name: "", cluster: "a" }), "UNIQUE_CONSTRAINT");
  assert.deepEqual([(await directory.read(id))?.cluster, await stateOf(id)], ["b", "placed"]);
});

test("a tenant that two requests lead to two clusters is on one of them", async () => {
  const id = tenantId("twice");
  const begun = Promise.withResolvers<void>();
  const other = Promise.withResolvers<void>();
  const slow = tenantsWith({
    b: {
      create: async (tenant) => {
        begun.resolve();
        await other.promise;
        return await stores.b.tenants.create(tenant);
      },
    },
  });
  const late = fails(slow.create({ id, name: "", cluster: "b" }), "UNIQUE_CONSTRAINT");
  await begun.promise;
  await tenantsWith({}).create({ id, name: "", cluster: "a" });
  other.resolve();
  await late;
  const among = new Set([id]);
  const { items } = await stores.b.tenants.list({ after: undefined, limit: 1, among });
  assert.deepEqual([items.length, (await directory.read(id))?.cluster], [0, "a"]);
});
