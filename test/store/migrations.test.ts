import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PG_MIGRATE_LOCK_ID } from "node-pg-migrate";
import postgres from "postgres";

import { migrateDown, migrateUp, migrationStatus } from "../../src/store/postgres/migrate.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { migrationNames } from "../support/migration-names.ts";
import { fails, openStore, pool } from "./engines.ts";
import { connect, until } from "./open-write.ts";

let place: TestDatabase;
let sql: postgres.Sql;

before(async () => {
  place = await createTestDatabase();
  sql = postgres(place.url, { max: 1, onnotice: () => {} });
});

after(async () => {
  await sql.end({ timeout: 1 });
  await place.drop();
});

/** Every table, column, index and function of the default schema. */
async function objects(): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select table_name || '.' || column_name || ' ' || data_type || ' ' || coalesce(collation_name, '') as name
    from information_schema.columns where table_schema = 'public'
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
    order by 1
  `;
  return rows.map(({ name }) => name);
}

test("migrations go up once, and the last of them, which replaces functions, is not taken back", async () => {
  const up = await migrateUp(place.url);
  assert.deepEqual(up, up.toSorted());
  const state = await objects();
  assert.ok(state.length > 50);
  assert.deepEqual(await migrateUp(place.url), []);
  await fails(migrateDown(place.url, 1), "MIGRATION", "cannot be undone", up.at(-1) ?? "");
  assert.deepEqual(await objects(), state);
  assert.deepEqual(await migrateUp(place.url), []);
});

test("the status tells what is applied", async () => {
  const fresh = await createTestDatabase();
  try {
    const pending = await migrationStatus(fresh.url);
    assert.ok(pending.every(({ appliedAt }) => appliedAt === undefined));
    await migrateUp(fresh.url);
    const applied = await migrationStatus(fresh.url);
    assert.ok(applied.every(({ appliedAt }) => appliedAt !== undefined));
    assert.deepEqual(
      applied.map(({ name }) => name),
      pending.map(({ name }) => name),
    );
  } finally {
    await fresh.drop();
  }
});

test("instances that start together on an empty database all start", async () => {
  const empty = await createTestDatabase();
  try {
    const stores = await Promise.all([1, 2, 3].map(async () => await openStore(empty.url)));
    for (const store of stores) {
      const { items } = await store.tenants.list({ after: undefined, limit: 10 });
      assert.deepEqual(
        items.map(({ id, name }) => [id, name]),
        [["t1", "example tenant"]],
      );
    }
    await Promise.all(stores.map(async (store) => await store.close()));
  } finally {
    await empty.drop();
  }
});

test("a second start does not bring a deleted tenant t1 back", async () => {
  const fresh = await createTestDatabase();
  try {
    const first = await openStore(fresh.url);
    const { items } = await first.tenants.list({ after: undefined, limit: 10 });
    for (const { id } of items) await first.tenants.delete(id);
    await first.close();
    const second = await openStore(fresh.url);
    assert.deepEqual((await second.tenants.list({ after: undefined, limit: 10 })).items, []);
    await second.close();
  } finally {
    await fresh.drop();
  }
});

test("tables are made in the schema that the connection works in", async () => {
  const fresh = await createTestDatabase();
  const setup = postgres(fresh.url, { max: 1 });
  try {
    await setup`create schema authorization_data`;
    const url = `${fresh.url}?options=${encodeURIComponent("-c search_path=authorization_data")}`;
    await (await openStore(url)).close();
    assert.deepEqual(await migrateUp(`${fresh.url}?search_path=authorization_data`), []);
    const places = await setup<{ schema: string }[]>`
      select distinct schemaname as schema from pg_tables
      where tablename in ('relationships', 'pemba_migrations')
    `;
    assert.deepEqual(
      places.map(({ schema }) => schema),
      ["authorization_data"],
    );
  } finally {
    await setup.end({ timeout: 1 });
    await fresh.drop();
  }
});

test("tables stay where they are when another schema comes before theirs", async () => {
  const fresh = await createTestDatabase();
  const setup = connect(fresh.url, 1);
  const url = `${fresh.url}?search_path=later,public`;
  try {
    const all = await migrateUp(url);
    await setup`create schema later`;
    await setup`create function later.delete_tuples(text) returns void language sql return null`;
    assert.deepEqual(await migrateUp(url), []);
    const states = await migrationStatus(url);
    assert.ok(states.every(({ appliedAt }) => appliedAt !== undefined));

    // What is pending is made there as well, beside functions of others with the same names.
    await setup.unsafe(`
      drop schema public cascade;
      create schema public;
      create table pemba_migrations (id serial primary key, name text not null, run_on timestamp not null);
    `);
    assert.deepEqual(await migrateUp(url), all);
    const made = await setup<{ schema: string }[]>`
      select distinct relnamespace::regnamespace::text as schema from pg_class
      where relname in ('relationships', 'pemba_migrations', 'durable_xid')
    `;
    assert.deepEqual(
      made.map(({ schema }) => schema),
      ["public"],
    );
  } finally {
    await setup.end({ timeout: 1 });
    await fresh.drop();
  }
});

test("a start without migrating refuses a database that lacks one, and names it", async () => {
  const empty = await createTestDatabase();
  try {
    const opening = createPostgresStore({
      url: empty.url,
      pool,
      autoMigrate: false,
      maxRetries: 0,
      maxSchemaCacheBytes: 1,
      warn: assert.fail,
    });
    await fails(opening, "MIGRATION", "0001_tables", "database.auto_migrate");
  } finally {
    await empty.drop();
  }
});

test("a database that an unreleased version made is refused by all that opens it", async () => {
  const former = await createTestDatabase();
  const setup = connect(former.url, 1);
  try {
    await migrateUp(former.url);
    await setup`update pemba_migrations set name = '0001_tenants' where name = '0001_tables'`;
    for (const opening of [
      async () => await migrateUp(former.url),
      async () => await migrateDown(former.url, 1),
      async () => await migrationStatus(former.url),
      async () => await openStore(former.url),
      async () => await openStore(former.url, { autoMigrate: false }),
    ]) {
      await fails(opening(), "MIGRATION", "`0001_tenants`", "use a new database");
    }
  } finally {
    await setup.end({ timeout: 1 });
    await former.drop();
  }
});

test("a database with a migration of a newer release is opened as it is, with a warning", async () => {
  const newer = await createTestDatabase();
  const setup = connect(newer.url, 1);
  try {
    await migrateUp(newer.url);
    await setup`insert into pemba_migrations (name, run_on) values ('9999_later', now())`;
    assert.deepEqual(await migrateUp(newer.url), []);
    for (const autoMigrate of [true, false]) {
      const warnings: string[] = [];
      const warn = (message: string): void => void warnings.push(message);
      await (await openStore(newer.url, { autoMigrate, warn })).close();
      assert.match(warnings.join(), /^a newer version of Pemba has applied `9999_later` /);
    }
    assert.deepEqual((await migrationStatus(newer.url)).filter(({ isNewer }) => isNewer).length, 1);
  } finally {
    await setup.end({ timeout: 1 });
    await newer.drop();
  }
});

test("a migration whose connection is lost fails as unavailable, and can be run again", async () => {
  const fresh = await createTestDatabase();
  const setup = connect(fresh.url, 1);
  try {
    await setup`select pg_advisory_lock(${PG_MIGRATE_LOCK_ID})`;
    const migrating = fails(migrateUp(fresh.url), "UNAVAILABLE");
    await until(async () => {
      const ended = await setup`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
      `;
      return ended.length > 0 ? true : undefined;
    });
    await migrating;
    await setup`select pg_advisory_unlock(${PG_MIGRATE_LOCK_ID})`;
    assert.deepEqual(await migrateUp(fresh.url), migrationNames);
  } finally {
    await setup.end({ timeout: 1 });
    await fresh.drop();
  }
});
