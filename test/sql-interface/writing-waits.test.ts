/** An open transaction of an application makes others wait only if they write the same keys. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { attribute, tenantWithSchema, write } from "../store/engines.ts";
import { remove } from "../store/filters.ts";
import { connect, until } from "../store/open-write.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

const created = 500;
const deleted = 200;
const others = 200;
const openDeletes = 20;
const sameKeys = 5;

let scene: InterfaceScene;
let store: Store;
let app: postgres.Sql;

before(async () => {
  scene = await openInterface();
  ({ store } = scene);
  app = connect(`${scene.url}?role=${scene.role}`, sameKeys + 3);
});

after(async () => {
  await app.end({ timeout: 1 });
  await scene.close();
});

const owners = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, nth) => `doc:${name}${nth}#owner@user:a`);

async function writeAll(tenant: TenantId, tuples: readonly string[]): Promise<void> {
  await app`select pemba.write_tuples(${tenant}, ${tuples}::text[])`;
}

/** How many connections wait for a lock that the process of another one holds. */
async function waitingFor(pid: number): Promise<number> {
  const [row] = await scene.owner<{ count: number }[]>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and ${pid} = any(pg_blocking_pids(pid))
  `;
  return row?.count ?? assert.fail("no count");
}

/** What others of the tenant do, on keys of their own. Each resolves when all of it is done. */
const work: Readonly<Record<string, (tenant: TenantId) => Promise<unknown>>> = {
  "create a tuple": async (tenant) =>
    await Promise.all(
      owners("other", others).map(async (text) => await write(store, tenant, { tuples: [text] })),
    ),
  "create tuples as applications": async (tenant) =>
    await Promise.all(
      owners("app", others).map(
        async (text) => await app`select pemba.write_tuples(${tenant}, ${[text]}::text[])`,
      ),
    ),
  "set an attribute": async (tenant) =>
    await Promise.all(
      Array.from({ length: others }, async (_, nth) => {
        const value = attribute("limit", { type: "integer", data: 1 }, `other${nth}`);
        await write(store, tenant, { attributes: [value] });
      }),
    ),
  "delete a tuple by its name": async (tenant) =>
    await Promise.all(
      Array.from({ length: others }, async (_, nth) => {
        const tuples = { ids: [`other${nth}`], relation: "owner", subjectIds: ["a"] };
        await remove(store, tenant, { tuples: { ...tuples, type: "doc", subjectType: "user" } });
      }),
    ),
  "delete by an open filter": async (tenant) =>
    await Promise.all(
      Array.from({ length: openDeletes }, async (_, nth) => {
        await remove(store, tenant, { tuples: { ids: [`app${nth}`] } });
      }),
    ),
};

interface Holder {
  readonly prepare: (tenant: TenantId) => Promise<void>;
  readonly hold: (inside: postgres.TransactionSql, tenant: TenantId) => Promise<unknown>;
  readonly same: (tenant: TenantId, nth: number) => Promise<unknown>;
}

const holders: Readonly<Record<string, Holder>> = {
  [`created ${created} tuples`]: {
    prepare: async () => {},
    hold: async (inside, tenant) =>
      await inside`select pemba.write_tuples(${tenant}, ${owners("held", created)}::text[])`,
    same: async (tenant, nth) => await writeAll(tenant, [`doc:held${nth}#owner@user:a`]),
  },
  [`deleted ${deleted} tuples`]: {
    prepare: async (tenant) => await writeAll(tenant, owners("held", deleted)),
    hold: async (inside, tenant) =>
      await inside`select pemba.delete_tuples(${tenant}, ${owners("held", deleted)}::text[])`,
    same: async (tenant, nth) =>
      await app`select pemba.delete_tuples(${tenant}, ${[`doc:held${nth}#owner@user:a`]}::text[])`,
  },
  [`deleted ${deleted} entities`]: {
    prepare: async (tenant) => await writeAll(tenant, owners("held", deleted)),
    hold: async (inside, tenant) =>
      await inside`
        select pemba.delete_entity(${tenant}, 'doc', 'held' || nth)
        from generate_series(0, ${deleted - 1}::integer) as nth
      `,
    same: async (tenant, nth) =>
      await app`select pemba.delete_entity(${tenant}, 'doc', ${`held${nth}`})`,
  },
};

for (const [name, { prepare, hold, same }] of Object.entries(holders)) {
  test(`an open transaction that has ${name} holds up writers of the same keys alone`, async () => {
    const tenant = await tenantWithSchema(store);
    await prepare(tenant);
    const waited: Record<string, number> = {};
    const waiting = await app.begin(async (inside) => {
      await hold(inside, tenant);
      const [row] = await inside<{ pid: number }[]>`select pg_backend_pid() as pid`;
      const pid = row?.pid ?? assert.fail("no process");
      for (const [what, does] of Object.entries(work)) {
        // Who waits for the transaction would wait for ever: it is still open when all are done.
        let isDone = false;
        const doing = does(tenant).finally(() => (isDone = true));
        let most = 0;
        while (!isDone) most = Math.max(most, await waitingFor(pid));
        await doing;
        waited[what] = most;
      }
      const sameOnes = Array.from({ length: sameKeys }, async (_, nth) => await same(tenant, nth));
      await until(async () => ((await waitingFor(pid)) === sameKeys ? true : undefined));
      return sameOnes;
    });
    assert.deepEqual(waited, Object.fromEntries(Object.keys(work).map((what) => [what, 0])));
    await Promise.all(waiting);
  });
}
