/** Schemas of applications that come before that of Pemba's tables in the search path. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";

import { onDatabase } from "../../src/store/postgres/connect/on-database.ts";
import { migrateUp } from "../../src/store/postgres/migrate.ts";
import { readMapTable } from "../../src/store/postgres/sql-interface/map-target.ts";
import { interfaceOptions } from "../sql-interface/interface-scene.ts";
import { setTraps } from "../sql-interface/name-traps.ts";
import {
  createMigratedDatabase,
  createTestDatabase,
  type TestDatabase,
} from "../support/database.ts";
import { allowed, openStore, pool, tenantWithSchema, write } from "./engines.ts";
import { connect } from "./open-write.ts";

/** Tables that an application may have, by names that Pemba has, too. */
const tables = ["tenants", "relationships", "attributes", "changes", "installation"];

for (const [how, query] of [
  ["the parameter of the URI", "search_path=app,public"],
  ["options of the URI", `options=${encodeURIComponent("-c search_path=app,public")}`],
] as const) {
  test(`tables of an application are not taken for Pemba's, with the path from ${how}`, async () => {
    const place = await createMigratedDatabase();
    const sql = connect(place.url, 1);
    const url = `${place.url}?${query}`;
    // The application comes while Pemba runs, and is there when it starts again.
    const running = await openStore(url, { pool: { ...pool, maxConnections: 2 } });
    try {
      const tenant = await tenantWithSchema(running);
      await sql.unsafe(
        `create schema app; ${tables.map((table) => `create table app.${table} (id text);`).join("")}`,
      );
      const started = await openStore(url);
      for (const store of [running, started]) {
        await write(store, tenant, { tuples: ["doc:1#owner@user:ann"] });
        const asked = { id: "1", permission: "view", subject: "ann" };
        assert.equal(await allowed(store, tenant, asked), true);
        const created = await tenantWithSchema(store);
        await store.tenants.delete(created);
      }
      await started.close();
    } finally {
      await running.close();
      await sql.end({ timeout: 1 });
      await place.drop();
    }
  });
}

test("names of an application are found behind those of Pemba", async () => {
  const place = await createMigratedDatabase();
  const sql = connect(place.url, 1);
  try {
    await sql.unsafe(`
      create schema app;
      create table app.documents (id text);
      create table app.tenants (name text);
    `);
    await onDatabase(`${place.url}?search_path=app,public`, async (database) => {
      const find = async (...parts: readonly string[]): Promise<string | undefined> =>
        (await readMapTable(database, parts))?.schema;
      assert.deepEqual(
        [await find("documents"), await find("tenants"), await find("app", "tenants")],
        ["app", "public", "app"],
      );
      assert.equal(await find("absent"), undefined);
    });
  } finally {
    await sql.end({ timeout: 1 });
    await place.drop();
  }
});

test("what another role makes in a schema of the path runs with no rights of Pemba", async (t) => {
  const place = await createMigratedDatabase();
  await trap(t, place);
  const warned: string[] = [];
  const warn = (message: string): void => void warned.push(message);
  // The path of a role with that name, when nothing is set.
  const store = await openStore(`${place.url}?search_path=app,public`, {
    sql: interfaceOptions,
    warn,
  });
  try {
    const tenant = await tenantWithSchema(store);
    await write(store, tenant, { tuples: ["doc:1#owner@user:ann", "doc:2#owner@user:ann"] });
    await write(store, tenant, { tuples: ["doc:3#owner@user:ann"] });
    const asked = { id: "1", permission: "view", subject: "ann" };
    assert.equal(await allowed(store, tenant, asked), true);
    await store.tenants.delete(tenant);
    assert.deepEqual(warned, []);
    assert.deepEqual(await migrateUp(`${place.url}?search_path=app,public`), []);
  } finally {
    await store.close();
  }
});

test("a first migration runs nothing that another role has made in a schema of the path", async (t) => {
  const place = await createTestDatabase();
  await trap(t, place);
  assert.ok((await migrateUp(`${place.url}?search_path=public,app`)).length > 0);
});

/** Another role has a schema `app` of its own, and has made traps in it. */
async function trap(t: TestContext, place: TestDatabase): Promise<void> {
  const sql = connect(place.url, 1);
  const role = `maker_${randomUUID().slice(0, 8)}`;
  await sql.unsafe(`create role ${role} login; create schema app authorization ${role}`);
  const url = new URL(place.url);
  url.username = role;
  const attacker = connect(url.href, 1);
  t.after(async () => {
    await attacker.end({ timeout: 1 });
    await sql.unsafe(`drop owned by ${role} cascade; drop role ${role}`);
    await sql.end({ timeout: 1 });
    await place.drop();
  });
  assert.ok((await setTraps(attacker, role, "app")) > 500);
}
