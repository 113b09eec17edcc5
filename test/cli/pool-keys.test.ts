import assert from "node:assert/strict";
import { test } from "node:test";

import type postgres from "postgres";

import { fails, newTenant } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { openConfigured, readAll } from "./configured-store.ts";

/*
 * What the keys of the pool do when they are configured. Their effects in full are held against the
 * options that the configuration is made into, in test/store/pool.test.ts.
 */

/** The connections of the store, as the server sees them. */
async function connections(
  sql: postgres.Sql,
): Promise<readonly { readonly pid: number; readonly changed: Date }[]> {
  return await sql<{ pid: number; changed: Date }[]>`
    select pid, state_change as changed from pg_stat_activity
    where datname = current_database() and application_name = 'pemba'
  `;
}

const soonIdle = "--database-max-connection-idle-time=1ms";

for (const [key, flag] of [
  ["database.min_connections", "--database-min-connections=5"],
  ["database.max_idle_connections", "--database-max-idle-connections=5"],
  ["database.min_idle_connections", "--database-min-idle-connections=5"],
] as const) {
  test(`so many connections as \`${key}\` says are there without work`, async (t) => {
    const { sql } = await openConfigured(t, soonIdle, flag);
    await until(async () => ((await connections(sql)).length >= 5 ? true : undefined));
  });
}

test("unused connections are closed after `database.max_connection_idle_time`", async (t) => {
  const { sql } = await openConfigured(t, soonIdle);
  await until(async () => ((await connections(sql)).length === 0 ? true : undefined));
});

test("connections are replaced after `database.max_connection_lifetime`", async (t) => {
  const { store, sql } = await openConfigured(t, "--database-max-connection-lifetime=1ms");
  const tenant = await newTenant(store);
  const first = new Set((await connections(sql)).map(({ pid }) => pid));
  await until(async () => {
    await readAll(store, tenant);
    const others = (await connections(sql)).filter(({ pid }) => !first.has(pid));
    return others.length > 0 ? true : undefined;
  });
});

test("`database.max_connection_lifetime_jitter` makes lifetimes longer", async (t) => {
  const { store, sql } = await openConfigured(
    t,
    "--database-max-connections=1",
    "--database-max-connection-lifetime=1ms",
    "--database-max-connection-lifetime-jitter=876000h",
  );
  const tenant = await newTenant(store);
  await readAll(store, tenant);
  const first = new Set((await connections(sql)).map(({ pid }) => pid));
  for (let turn = 0; turn < 20; turn++) await readAll(store, tenant);
  assert.ok((await connections(sql)).every(({ pid }) => first.has(pid)));
});

test("unused connections are asked every `database.health_check_period`", async (t) => {
  const { store, sql } = await openConfigured(t, "--database-health-check-period=20ms");
  await store.ping();
  const first = new Map((await connections(sql)).map(({ pid, changed }) => [pid, changed]));
  await until(async () => {
    const asked = (await connections(sql)).some(
      ({ pid, changed }) => changed > (first.get(pid) ?? changed),
    );
    return asked ? true : undefined;
  });
});

test("a read is ended after `database.read_timeout`", async (t) => {
  const { store, sql } = await openConfigured(t, "--database-read-timeout=100ms");
  const tenant = await newTenant(store);
  await sql.begin(async (lock) => {
    await lock`lock table relationships in access exclusive mode`;
    await fails(readAll(store, tenant), "DEADLINE_EXCEEDED", "`database.read_timeout`");
  });
});

test("a change is undone after `database.write_timeout`", async (t) => {
  const { store, sql } = await openConfigured(t, "--database-write-timeout=500ms");
  const tenant = await until(async () => await newTenant(store).catch(() => undefined));
  await sql.begin(async (lock) => {
    await lock`lock table tenants in access exclusive mode`;
    await fails(store.tenants.delete(tenant), "DEADLINE_EXCEEDED", "`database.write_timeout`");
  });
  assert.equal((await sql`select from tenants where id = ${tenant}`).length, 1);
});
