/** The roles that docs/operations.md sets up, with its own statements. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import { Database } from "../../src/store/postgres/connect/database.ts";
import { collectGarbage } from "../../src/store/postgres/garbage.ts";
import { migrateUp } from "../../src/store/postgres/migrate.ts";
import { interfaceOptions } from "../sql-interface/interface-scene.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { migrationNames } from "../support/migration-names.ts";
import { follow, textOf } from "./change-streams.ts";
import {
  allowed,
  attribute,
  fails,
  openStore,
  pool,
  tenantWithSchema,
  tuple,
  write,
} from "./engines.ts";
import { remove } from "./filters.ts";
import { connect, until } from "./open-write.ts";

const suffix = randomUUID().slice(0, 8);
const owner = `pemba_owner_${suffix}`;
const service = `pemba_service_${suffix}`;
const stranger = `pemba_stranger_${suffix}`;

let place: TestDatabase;
let sql: postgres.Sql;

/** The URI of a role: a superuser who takes it has its rights alone. */
const as = (role: string): string => `${place.url}?role=${role}`;

/** The statements of the section about roles: the superuser's, the owner's, and the owner's after `pemba sql enable`. */
function statements(): readonly [string, string, string] {
  const page = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");
  const section = page.slice(page.indexOf("## Two roles of the database"));
  const [first = "", second = "", , third = ""] = [...section.matchAll(/```sql\n(.*?)```/gs)].map(
    ([, text]) =>
      String(text)
        .replaceAll(/pemba_(owner|service)/g, `pemba_$1_${suffix}`)
        // The database is there already.
        .replace(
          /create database pemba owner/,
          `alter database "${new URL(place.url).pathname.slice(1)}" owner to`,
        ),
  );
  return [first, second, third];
}

before(async () => {
  place = await createTestDatabase();
  sql = connect(place.url, 1);
  const [ofSuperuser, ofOwner] = statements();
  await sql.unsafe(ofSuperuser);
  await sql`create role ${sql(stranger)}`;
  const asOwner = connect(as(owner), 1);
  await asOwner.unsafe(ofOwner);
  await asOwner.end();
});

after(async () => {
  for (const role of [service, stranger]) await sql.unsafe(`drop owned by ${role}`);
  await sql.end({ timeout: 1 });
  await place.drop();
  const server = connect(process.env["PEMBA_TEST_DATABASE_URL"] ?? "", 1);
  for (const role of [owner, service, stranger]) await server`drop role ${server(role)}`;
  await server.end();
});

test("the service may not migrate, and is told what is missing", async () => {
  await fails(openStore(as(service), { autoMigrate: false }), "MIGRATION", "0001_tables");
  await fails(openStore(as(service)), "MIGRATION", service, "may not make and change tables");
});

test("the service does all that it serves with the rights of its role alone", async () => {
  assert.deepEqual(await migrateUp(as(owner)), migrationNames);
  // With nothing pending there is nothing to migrate.
  const store = await openStore(as(service), { watch: { readAheadMax: 10 } });
  try {
    const tenant = await tenantWithSchema(store);
    const follower = await follow(store, tenant);
    const first = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
    assert.deepEqual(textOf(await follower.next()), ["+doc:1#owner@user:a"]);
    await write(store, tenant, {
      tuples: ["doc:2#owner@user:a", "doc:3#owner@user:a"],
      attributes: [attribute("public", { type: "boolean", data: false })],
    });
    await store.bundles.write(tenant, [{ name: "b", arguments: [], operations: [] }]);
    await store.bundles.run(tenant, "b", () => [
      {
        tuples: [tuple("doc:4#owner@user:a")],
        attributes: [],
        deletedTuples: [tuple("doc:2#owner@user:a")],
        deletedAttributes: [],
      },
    ]);
    await store.bundles.delete(tenant, "b");
    await store.data.change(tenant, {
      schemaVersion: undefined,
      preconditions: [
        { kind: "tuple", tuple: tuple("doc:4#owner@user:a"), exists: true },
        { kind: "unchanged", since: await write(store, tenant, {}) },
      ],
      tupleFilters: [],
      attributeFilters: [{ entity: { type: "doc", ids: ["4"] }, attributes: [] }],
      tuples: [tuple("doc:5#owner@user:a")],
      attributes: [],
    });
    await remove(store, tenant, { tuples: { ids: ["1"] }, attributes: { ids: ["1"] } });
    const asked = { id: "1", permission: "view", subject: "a" };
    assert.equal(await allowed(store, tenant, asked), false);
    assert.equal(await allowed(store, tenant, { ...asked, at: first }), true);
    await follower.leave();

    const database = await Database.connect({ url: as(service), pool, warn: assert.fail });
    await collectGarbage(database, { windowMs: 1, timeoutMs: 60_000, byLog: true });
    await database.close();

    await store.tenants.delete(tenant);
    await until(async () => {
      const [row] = await sql`
        select (select count(*) from relationships) + (select count(*) from removed_tenants) as left
      `;
      return row?.["left"] === "0" ? true : undefined;
    });
  } finally {
    await store.close();
  }
});

test("the service opens a copy, whose history it empties", async () => {
  await sql`update installation set system_identifier = 'another'`;
  await sql`insert into timelines values ('another', 1, '5')`;
  await (await openStore(as(service), { autoMigrate: false })).close();
  assert.deepEqual([...(await sql`select from timelines where system_identifier = 'another'`)], []);
});

test("the service may not change the tables, and no other role may call the functions", async () => {
  const asService = connect(as(service), 1);
  const asStranger = connect(as(stranger), 1);
  try {
    await assert.rejects(asService`drop table relationships`, /must be owner/);
    await assert.rejects(asService`create table mine ()`, /permission denied for schema public/);
    await assert.rejects(asStranger`select lock_key(1, 0)`, /permission denied for function/);
    await assert.rejects(asStranger`select * from open_installation()`, /permission denied/);
    await assert.rejects(asStranger`select from tenants`, /permission denied for table/);
    assert.equal((await asService`select lock_key(1, 0)`).length, 1);
  } finally {
    await asService.end();
    await asStranger.end();
  }
});

test("with the SQL interface the service needs the rights that the owner grants then, and no others", async () => {
  const [, , afterEnable] = statements();
  await (await openStore(as(owner), { sql: interfaceOptions })).close();
  const options = { autoMigrate: false, sql: interfaceOptions };
  await fails(openStore(as(service), options), "INTERNAL");
  const asOwner = connect(as(owner), 1);
  await asOwner.unsafe(afterEnable);
  const store = await openStore(as(service), options);
  try {
    const tenant = await tenantWithSchema(store);
    await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
    const [row] = await asOwner`
      select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'a') as answer
    `;
    assert.equal(row?.["answer"], true);
  } finally {
    await store.close();
    await asOwner.end();
  }
});
