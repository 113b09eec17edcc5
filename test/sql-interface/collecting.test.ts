/** Functions that nothing leads to go, and no head is ever without its functions. */
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { readSchema } from "../../src/store/postgres/schemas.ts";
import { readInterface } from "../../src/store/postgres/sql-interface/install.ts";
import { SqlInterface } from "../../src/store/postgres/sql-interface/sql-interface.ts";
import { newTenant, pool, write } from "../store/engines.ts";
import { connect, until } from "../store/open-write.ts";
import { type InterfaceScene, interfaceOptions, openInterface } from "./interface-scene.ts";

let scene: InterfaceScene;
let database: Database;
let sqlInterface: SqlInterface;

before(async () => {
  scene = await openInterface();
  database = await Database.connect({ url: scene.url, pool, warn: () => {} });
  const { names } = await readInterface(scene.url, "pemba");
  const schemas = new CompiledSchemas((id, version) => readSchema(database, id, version), {
    maxBytes: 1_000_000,
  });
  sqlInterface = new SqlInterface({ database, schemas }, names, interfaceOptions);
});

after(async () => {
  await database.close();
  await scene.close();
});

/** A schema whose functions are those of no other test. */
function schemaOf(relation: string): string {
  return `entity user {}\nentity doc { relation ${relation} @user\n permission view = ${relation} }`;
}

const plain = schemaOf("plain");

/** The names of functions whose text has a word. */
async function functionsWith(word: string, { owner } = scene): Promise<readonly string[]> {
  const rows = await owner<{ name: string }[]>`
    select proname as name from pg_proc
    where pronamespace = 'pemba_plans'::regnamespace and proname ~ '_[0-9a-f]{24}$'
      and strpos(prosrc, ${word}) > 0
  `;
  return rows.map(({ name }) => name);
}

/** A tenant whose head was once the schema of a relation: its functions are unused now. */
async function tenantAfter(relation: string): Promise<TenantId> {
  const tenant = await newTenant(scene.store);
  await scene.store.schemas.write(tenant, { text: schemaOf(relation) });
  await write(scene.store, tenant, { tuples: [`doc:1#${relation}@user:a`] });
  await scene.store.schemas.write(tenant, { text: plain });
  // The questions go, the functions stay.
  for (const table of ["questions", "versions"]) {
    await scene.owner`
      delete from pemba_plans.${scene.owner(table)} as o using tenants as t
      where t.number = o.tenant and t.id = ${tenant} and o.version <> t.head_version
    `;
  }
  assert.ok((await functionsWith(relation)).length > 0);
  return tenant;
}

/** A session of its own that holds something in a transaction. */
async function session(t: TestContext): Promise<postgres.ReservedSql> {
  const sql = connect(scene.url, 1);
  const held = await sql.reserve();
  t.after(async () => {
    held.release();
    await sql.end({ timeout: 1 });
  });
  await held`begin`;
  return held;
}

async function waits(text: string): Promise<void> {
  await until(async () => {
    const rows = await scene.owner`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and strpos(query, ${text}) > 0
    `;
    return rows.length > 0 || undefined;
  });
}

async function may(tenant: TenantId): Promise<unknown> {
  const [row] =
    await scene.app`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'a') as may`;
  return row?.["may"];
}

test("a function that a schema write is about to use stays", async (t) => {
  const tenant = await tenantAfter("used_first");
  const held = await session(t);
  await held`select from tenants where id = ${tenant} for update`;
  const written = scene.store.schemas.write(tenant, { text: schemaOf("used_first") });
  await waits("write_schema");
  const removed = sqlInterface.removeUnused(0);
  await waits("remove_functions");
  await held`commit`;
  await Promise.all([written, removed]);
  assert.equal(await may(tenant), true);
});

test("what leads to the head of a tenant stays while a move hides the tenant", async () => {
  const { owner, store } = scene;
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaOf("hidden") });
  await write(store, tenant, { tuples: ["doc:1#hidden@user:a"] });
  const [{ number } = { number: 0 }] = await owner`select number from tenants where id = ${tenant}`;
  const mover = "00000000-0000-0000-0000-000000000001";
  await owner`insert into departures (number, id, mover) values (${number}, ${tenant}, ${mover})`;
  await owner`select hide_tenant(${number}, ${mover})`;
  await sqlInterface.removeUnused(0);
  await owner`select show_tenant(${number}, ${mover})`;
  assert.equal(await may(tenant), true);
  await owner`select pemba.write_tuple(${tenant}, 'doc', '2', 'hidden', 'user', 'a')`;
});

test("a schema write makes anew what was removed while it waited", async (t) => {
  const tenant = await tenantAfter("removed_first");
  const held = await session(t);
  await held`select pemba_plans.remove_functions(clock_timestamp(), 1000)`;
  const written = scene.store.schemas.write(tenant, { text: schemaOf("removed_first") });
  await waits("write_schema");
  assert.ok((await functionsWith("removed_first")).length > 0);
  await held`commit`;
  await written;
  assert.equal(await may(tenant), true);
});

test("a sync of heads makes anew what was removed while it waited", async (t) => {
  const tenant = await tenantAfter("synced");
  await scene.owner`delete from pemba_plans.versions`;
  await scene.owner`delete from pemba_plans.questions`;
  const held = await session(t);
  await held`select pemba_plans.remove_functions(clock_timestamp(), 1000)`;
  const synced = sqlInterface.syncHeads({ all: true, mayMake: true });
  await waits("sync_version");
  await held`commit`;
  assert.deepEqual((await synced).unsynced, []);
  assert.equal(await may(tenant), false);
});

test("schema writes and removals at once leave each head with its functions", async () => {
  const tenants = await Promise.all(["one", "two", "three"].map(tenantAfter));
  let isWriting = true;
  const writers = tenants.map(async (tenant, index) => {
    for (let turn = 0; turn < 8; turn += 1) {
      const relation = ["one", "two", "three"][(index + turn) % 3] ?? "";
      await scene.store.schemas.write(tenant, { text: schemaOf(relation) });
      await may(tenant);
    }
  });
  const remover = (async () => {
    while (isWriting) await sqlInterface.removeUnused(0);
  })();
  await Promise.all(writers).finally(() => {
    isWriting = false;
  });
  await remover;
  const lacking = await scene.owner`
    select from pemba_plans.questions as q
    join tenants as t on t.number = q.tenant and t.head_version = q.version
    cross join lateral jsonb_each_text(q.plans) as p(kind, hash)
    where to_regproc(format('pemba_plans.%I', p.kind || '_' || p.hash)) is null
  `;
  assert.equal(lacking.length, 0);
});

test("the collector in the background removes what nothing leads to", async (t) => {
  const other = await openInterface(
    {},
    { garbageCollection: { intervalMs: 10, windowMs: 1, timeoutMs: 60_000 } },
  );
  t.after(async () => await other.close());
  const tenant = await newTenant(other.store);
  await other.store.schemas.write(tenant, { text: schemaOf("collected") });
  assert.ok((await functionsWith("collected", other)).length > 0);
  await other.store.schemas.write(tenant, { text: plain });
  await until(async () => (await functionsWith("collected", other)).length === 0 || undefined);
  const [row] = await other.app`
    select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'a') as may
  `;
  assert.equal(row?.["may"], false);
});
