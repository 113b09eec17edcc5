/** The rows of deleted tenants, which go in batches behind the scenes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import {
  allowed,
  attribute,
  fails,
  newTenant,
  type OpenStore,
  openPostgres,
  openStore,
  schemaText,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { insertManyRows } from "./many-rows.ts";
import { connect, until, untilWaiting } from "./open-write.ts";

const view = { id: "1", permission: "view", subject: "a" };

let open: OpenStore & { readonly url: string };
let store: Store;
let sql: postgres.Sql;

before(async () => {
  open = await openPostgres();
  store = open.store;
  sql = connect(open.url);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await open.close();
});

async function numberOf(tenant: TenantId): Promise<string> {
  const [row] = await sql<{ number: string }[]>`
    select number::text as number from tenants where id = ${tenant}
  `;
  return row?.number ?? assert.fail();
}

/** More of everything than fits into one batch. */
async function fill(tenant: TenantId): Promise<string> {
  const number = await numberOf(tenant);
  await insertManyRows(sql, number);
  await write(store, tenant, {
    attributes: [attribute("public", { type: "boolean", data: true })],
  });
  await store.bundles.write(tenant, [{ name: "b", arguments: [], operations: [] }]);
  return number;
}

/** How many rows a tenant has left, by table. */
async function left(number: string): Promise<Readonly<Record<string, number>>> {
  const [row] = await sql<Record<string, number>[]>`
    select
      (select count(*)::integer from relationships where tenant = ${number}) as relationships,
      (select count(*)::integer from attributes where tenant = ${number}) as attributes,
      (select count(*)::integer from changes where tenant = ${number}) as changes,
      (select count(*)::integer from schemas where tenant = ${number}) as schemas,
      (select count(*)::integer from bundles where tenant = ${number}) as bundles,
      (select count(*)::integer from removed_tenants where number = ${number}) as pending
  `;
  return row ?? assert.fail();
}

async function untilGone(number: string): Promise<void> {
  await until(async () => {
    const rows = Object.values(await left(number));
    return rows.every((count) => count === 0) ? true : undefined;
  });
}

test("everything of a deleted tenant goes, and nothing of another", async () => {
  const kept = await tenantWithSchema(store);
  const keptNumber = await fill(kept);
  const deleted = await tenantWithSchema(store);
  const number = await fill(deleted);
  const before = await left(keptNumber);
  await store.tenants.delete(deleted);
  await fails(write(store, deleted, {}), "TENANT_NOT_FOUND");
  await untilGone(number);
  assert.deepEqual(await left(keptNumber), before);
  assert.equal(await allowed(store, kept, view), true);
});

test("a removal that ended in the middle goes on with the next start", async () => {
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  const number = await fill(tenant);
  const token = await write(store, tenant, { tuples: ["doc:x#owner@user:a"] });
  const other = await openStore(open.url, { warn: () => {} });
  const killed = await sql.begin(async (lock) => {
    // Tuples can go, the log cannot: the removal is held up between two tables.
    await lock`lock table changes in share mode`;
    await other.tenants.delete(tenant);
    await untilWaiting(sql, 1);
    const rows = await lock<{ pid: number }[]>`
      select pid, pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
    `;
    return rows.length;
  });
  assert.equal(killed, 1);
  const { relationships, changes, pending } = await left(number);
  assert.deepEqual([relationships, pending], [0, 1]);
  assert.ok((changes ?? 0) > 30_000);

  // The id is free meanwhile, and what is left of the predecessor does not show.
  await other.tenants.create({ id: tenant, name: "" });
  await other.schemas.write(tenant, { text: schemaText });
  assert.equal(await allowed(other, tenant, view), false);
  await fails(allowed(other, tenant, { ...view, at: token }), "INVALID_SNAP_TOKEN");
  await other.close();

  const next = await openStore(open.url);
  await untilGone(number);
  assert.equal(await allowed(next, tenant, view), false);
  await next.close();
});

test("other tenants are written into while one is removed", async () => {
  const deleted = await tenantWithSchema(store);
  const number = await fill(deleted);
  const kept = await tenantWithSchema(store);
  // The removal begins when no transaction is open that was open before.
  const earlier = await sql.reserve();
  await earlier`begin`;
  await earlier`select pg_current_xact_id()`;
  await store.tenants.delete(deleted);
  await until(async () => {
    const rows = await sql`
      select from removed_tenants where number = ${number} and writers_below is not null
    `;
    return rows.length === 1 ? true : undefined;
  });
  await sql.begin(async (lock) => {
    // A row of the log that the removal waits for, with what it has removed before.
    await lock`select from changes where tenant = ${number} for update`;
    const { changes } = await left(number);
    assert.ok((changes ?? 0) > 30_000);
    await earlier`commit`;
    earlier.release();
    await untilWaiting(sql, 1);
    await write(store, kept, { tuples: ["doc:1#owner@user:a"] });
    assert.equal(await allowed(store, kept, view), true);
    await store.tenants.create({ id: deleted, name: "" });
  });
  await untilGone(number);
});
