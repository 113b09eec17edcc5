import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";

import type postgres from "postgres";

import { fails, newTenant, openStore, schemaText, write } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { runCommand } from "../support/commands-process.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { interfaceOptions } from "./interface-scene.ts";

interface Place {
  readonly url: string;
  readonly sql: postgres.Sql;
}

async function place(t: TestContext): Promise<Place> {
  const { url, drop } = await createMigratedDatabase();
  const sql = connect(url, 2);
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await drop();
  });
  return { url, sql };
}

/** A tenant whose schema was written while there was no interface. */
async function tenantBefore(url: string): Promise<string> {
  const store = await openStore(url);
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await store.close();
  return tenant;
}

async function may({ sql }: Place, tenant: string): Promise<unknown> {
  const [row] = await sql`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'a') as may`;
  return row?.["may"];
}

async function schemas({ sql }: Place): Promise<readonly unknown[]> {
  const rows = await sql`
    select nspname as name from pg_namespace where nspname like 'pemba%' order by name
  `;
  return rows.map(({ name }): unknown => name);
}

test("the schema of the interface may have the name of the role, into whose default path it comes", async (t) => {
  const { url, sql } = await place(t);
  const role = `pemba_${randomUUID().slice(0, 8)}`;
  await sql.unsafe(`create role ${role} superuser login password 'secret'`);
  try {
    const own = new URL(url);
    own.username = role;
    own.password = "secret";
    const options = { sql: { ...interfaceOptions, schema: role } };
    const first = await openStore(own.href, options);
    const tenant = await newTenant(first);
    await first.schemas.write(tenant, { text: schemaText });
    await write(first, tenant, { tuples: ["doc:1#owner@user:a"] });
    await first.close();
    const second = await openStore(own.href, options);
    await write(second, tenant, { tuples: ["doc:2#owner@user:a"] });
    await second.close();
    const seen = await sql.unsafe(
      `select v from ${role}.visible('${tenant}', 'doc', 'view', 'user', 'a') as v order by v`,
    );
    assert.deepEqual(
      seen.map(({ v }): unknown => v),
      ["1", "2"],
    );
  } finally {
    await sql.unsafe(`drop owned by ${role} cascade; drop role ${role}`);
  }
});

test("enable installs the objects and syncs the heads that are there, and disable drops all", async (t) => {
  const here = await place(t);
  const tenant = await tenantBefore(here.url);
  const env = { SERVICE_DATABASE_URI: here.url, SERVICE_DATABASE_ENGINE: "postgres" };
  const made = await runCommand(["sql", "enable"], { env });
  assert.deepEqual(
    [made.status, made.stderr, made.stdout],
    [0, "", "installed the SQL interface in the schema `pemba`\nsynced the schemas of 1 tenants\n"],
  );
  assert.equal(await may(here, tenant), true);
  const again = await runCommand(["sql", "enable"], { env });
  assert.equal(
    again.stdout,
    "the SQL interface in the schema `pemba` is up to date\nsynced the schemas of 0 tenants\n",
  );
  const collected = await runCommand(["gc"], {
    env: { ...env, SERVICE_DATABASE_SQL_ENABLED: "true" },
  });
  assert.match(collected.stdout, /^removed 0 functions of the SQL interface\nremoved 0 logged/);
  const dropped = await runCommand(["sql", "disable"], { env });
  assert.deepEqual([dropped.status, dropped.stderr], [0, ""]);
  assert.match(dropped.stdout, /^dropped .*\n.*`database\.sql\.enabled`.*`pemba sql enable`\n$/);
  assert.deepEqual(await schemas(here), []);
  const none = await runCommand(["sql", "disable"], { env });
  assert.deepEqual(
    [none.status, none.stdout],
    [0, "there is no SQL interface in the schema `pemba`\n"],
  );
});

test("a schema write of a store whose interface was dropped says what to do, and works again after it", async (t) => {
  const here = await place(t);
  const env = { SERVICE_DATABASE_URI: here.url, SERVICE_DATABASE_ENGINE: "postgres" };
  const store = await openStore(here.url, { sql: interfaceOptions });
  t.after(async () => await store.close());
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  assert.equal((await runCommand(["sql", "disable"], { env })).status, 0);
  const text = schemaText.replaceAll("group", "team");
  const refused = "`database.sql.enabled` is true, but the SQL interface was dropped";
  await fails(store.schemas.write(tenant, { text }), "MIGRATION", refused, "`pemba sql enable`");
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  assert.equal((await runCommand(["sql", "enable"], { env })).status, 0);
  await store.schemas.write(tenant, { text });
  assert.equal(await may(here, tenant), true);
});

test("the start installs and upgrades the objects, and leaves those of a newer release", async (t) => {
  const here = await place(t);
  const tenant = await tenantBefore(here.url);
  await fails(
    openStore(here.url, { autoMigrate: false, sql: interfaceOptions }),
    "MIGRATION",
    "pemba sql enable",
  );
  assert.deepEqual(await schemas(here), []);
  const first = await openStore(here.url, { sql: interfaceOptions });
  await first.close();
  assert.equal(await may(here, tenant), true);

  await here.sql`update pemba_plans.installation set version = 0`;
  await here.sql`drop function pemba.subject()`;
  await fails(
    openStore(here.url, { autoMigrate: false, sql: interfaceOptions }),
    "MIGRATION",
    "older release",
  );
  const second = await openStore(here.url, { sql: interfaceOptions });
  await second.close();
  await here.sql`select pemba.subject()`;

  await here.sql`update pemba_plans.installation set version = 1000000`;
  await here.sql`drop function pemba.subject()`;
  const third = await openStore(here.url, { sql: interfaceOptions });
  await third.close();
  await assert.rejects(here.sql`select pemba.subject()`.execute(), { code: "42883" });
});

test("other options make the objects and the functions anew", async (t) => {
  const here = await place(t);
  const tenant = await tenantBefore(here.url);
  for (const visibleMax of [10, 20]) {
    const store = await openStore(here.url, { sql: { ...interfaceOptions, visibleMax } });
    await store.close();
    const [row] = await here.sql`
      select pg_get_functiondef(
        'pemba.visible_ids(text, text, text, text, text, text)'::regprocedure
      ) as text
    `;
    assert.match(String(row?.["text"]), new RegExp(`'${visibleMax}'::bigint`));
  }
  const store = await openStore(here.url, { sql: { ...interfaceOptions, depth: 7 } });
  await store.close();
  assert.equal(await may(here, tenant), true);
  const [row] = await here.sql`
    select pg_get_functiondef(to_regprocedure(p.signature)) as text
    from pemba_plans.questions as q
    join pemba_plans.plans as p on p.hash = q.plans ->> 'may'
    where q.entity_type = 'doc' and q.permission = 'view'
  `;
  assert.match(String(row?.["text"]), /<= 7\b/);
});

test("a schema with objects of others, or with Pemba's tables, is refused and not touched", async (t) => {
  const here = await place(t);
  await here.sql`create schema pemba`;
  await here.sql`create table pemba.own (id int)`;
  await fails(openStore(here.url, { sql: interfaceOptions }), "MIGRATION", "database.sql.schema");
  assert.deepEqual(await schemas(here), ["pemba"]);
  await fails(
    openStore(here.url, { sql: { ...interfaceOptions, schema: "public" } }),
    "MIGRATION",
    "database.sql.schema",
  );
});

test("disable leaves the lists of an application, and enable after it makes them work again", async (t) => {
  const here = await place(t);
  const tenant = await tenantBefore(here.url);
  const env = { SERVICE_DATABASE_URI: here.url };
  assert.equal((await runCommand(["sql", "enable"], { env })).status, 0);
  await here.sql`create table docs (id text primary key)`;
  await here.sql`insert into docs values ('1'), ('2')`;
  const target = ["--table", "public.docs", "--key", "id", "--type", "doc", "--permission", "view"];
  const list = await runCommand(
    ["sql", "list", ...target, "--order", "id", "--name", "docs_by_id"],
    { env },
  );
  assert.deepEqual([list.status, list.stderr], [0, ""]);
  // The printed statements are a transaction, for which one connection is needed.
  const connection = await here.sql.reserve();
  await connection.unsafe(list.stdout);
  connection.release();
  const page = async () =>
    (await here.sql`select id from pemba.docs_by_id(${tenant}, 'a', null, 10)`).map(
      ({ id }): unknown => id,
    );
  assert.deepEqual(await page(), ["1"]);
  assert.equal((await runCommand(["sql", "disable"], { env })).status, 0);
  assert.deepEqual(await schemas(here), ["pemba"]);
  await assert.rejects(page, { code: "42883" });
  const again = await runCommand(["sql", "enable"], { env });
  assert.deepEqual([again.status, again.stderr], [0, ""]);
  assert.deepEqual(await page(), ["1"]);
});

test("what uses a function keeps it from being dropped", async (t) => {
  const here = await place(t);
  const store = await openStore(here.url, { sql: interfaceOptions });
  await store.schemas.write(await newTenant(store), { text: schemaText });
  await store.close();
  await here.sql`create view own as select pemba.subject() as subject`;
  const env = { SERVICE_DATABASE_URI: here.url };
  const refused = await runCommand(["sql", "disable"], { env });
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /other objects depend on (it|them)/);
  await here.sql`select * from own`;
  const [kept] = await here.sql`select count(*)::int as functions from pemba_plans.plans`;
  assert.ok(Number(kept?.["functions"]) > 0);
  await here.sql`drop view own`;
  assert.equal((await runCommand(["sql", "disable"], { env })).status, 0);
  assert.deepEqual(await schemas(here), []);
});

test("a schema with more than 200 questions is refused until they are chosen", async (t) => {
  const here = await place(t);
  const store = await openStore(here.url, { sql: interfaceOptions });
  t.after(async () => await store.close());
  const letters = "abcdefghijklmnopqrstuvwxyz".split("");
  const names = letters.flatMap((one) => letters.slice(0, 8).map((two) => `${one}_${two}`));
  const lines = names.map((name) => `permission ${name} = owner`).join("\n");
  const text = `entity user {}\nentity doc {\nrelation owner @user\n${lines}\n}`;
  const tenant = await newTenant(store);
  await fails(
    store.schemas.write(tenant, { text }),
    "INVALID_ARGUMENT",
    "schema: it has 208 questions",
    "database.sql.questions",
  );
});

test("a service without the right to make functions writes schemas whose functions are there", async (t) => {
  const here = await place(t);
  const enabled = await openStore(here.url, { sql: interfaceOptions });
  const first = await newTenant(enabled);
  await enabled.schemas.write(first, { text: schemaText });
  await enabled.close();
  const role = `service_${randomUUID().slice(0, 8)}`;
  await here.sql.unsafe(`
    create role ${role};
    grant usage on schema public, pemba_plans to ${role};
    grant select, insert, update, delete, truncate
      on all tables in schema public, pemba_plans to ${role};
    grant execute on all functions in schema public, pemba_plans to ${role};
  `);
  const url = `${here.url}?role=${role}`;
  const asWriter = openStore(url, { autoMigrate: false, sql: interfaceOptions });
  await fails(asWriter, "MIGRATION", role, "may not make functions");
  const sql = { ...interfaceOptions, sync: "command" as const };
  const store = await openStore(url, { autoMigrate: false, sql });
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  assert.equal(await may(here, tenant), true);
  const other = schemaText.replace("owner or viewer", "viewer");
  await fails(store.schemas.write(tenant, { text: other }), "MIGRATION", "pemba sql sync");
  assert.equal(await may(here, tenant), true);
  await store.close();
  await here.sql.unsafe(`drop owned by ${role}; drop role ${role}`);
});
