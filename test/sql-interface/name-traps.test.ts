/**
 * A role that may make objects in the schema of Pemba's tables, as every role may in `public` of Postgres 14,
 * gets no rights by names that Pemba looks up.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openStore, tenantId } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { createMigratedDatabase, createTestDatabase } from "../support/database.ts";
import { interfaceOptions } from "./interface-scene.ts";
import { makeList } from "./list-scene.ts";
import { mappedSchema, type MapScene, openMaps } from "./map-scene.ts";
import { setTraps, trapped } from "./name-traps.ts";

let scene: MapScene;

const maps = `
- table: public.documents
  tenant: t1
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}"]
  attributes: ["title: {title}"]
  truncate: delete
- table: app.folders
  tenant: "{tenant_id}"
  entity: "folder:{id}"
  tuples: ["owner@user:{owner_id}"]
`;

before(async () => {
  scene = await openMaps();
  const { owner, role, app, install } = scene;
  await owner.unsafe(`
    create schema app;
    create table public.documents (id bigint primary key, owner_id text, title text);
    create table app.folders (tenant_id text, id text, owner_id text, primary key (tenant_id, id));
    create index on public.documents (title, id);
    grant usage on schema app to ${role};
    grant all on app.folders, public.documents to ${role};
  `);
  await install(maps);
  await makeList(scene, {
    table: "public.documents",
    key: "id",
    name: "documents_titled",
    question: { entityType: "document", permission: "view", subjectType: "user" },
    order: "title",
    where: "strpos(title, $search) > 0",
  });
  await owner`insert into public.documents values (1, 'ada', 'a'), (2, 'ada', 'b')`;
  await owner`grant execute on function pemba.documents_titled to ${owner(role)}`;
  await owner`grant create on schema public to ${owner(role)}`;
  assert.ok((await setTraps(app, role)) > 500);
});

after(async () => {
  await scene.close();
});

const t1 = "'t1', 'document'";

/** Calls of each function, in an order in which they do something, with what they return. */
const calls: readonly (readonly [call: string, result: unknown])[] = [
  [`pemba.write_tuple(${t1}, '10', 'viewer', 'user', 'bob')`, true],
  [`pemba.write_tuple(${t1}, '10', 'viewer', 'user', 'bob')`, false],
  [`pemba.write_tuples('t1', '{document:11#viewer@user:bob,document:12#viewer@user:bob}')`, 2],
  [`pemba.write_tuples('t1', '{document:11#viewer@user:bob,document:13#viewer@user:bob}')`, 1],
  [`pemba.delete_tuples('t1', '{document:11#viewer@user:bob,document:12#viewer@user:bob}')`, 2],
  [`pemba.delete_tuples('t1', '{document:13#viewer@user:bob}')`, 1],
  [
    `pemba.write_attributes('t1', '[${["true", "false"]
      .map(
        (data, index) =>
          `{"entity": {"type": "document", "id": "${index}"}, "attribute": "public", "value": {"@type": "type.googleapis.com/base.v1.BooleanValue", "data": ${data}}}`,
      )
      .join()}]')`,
    2,
  ],
  [`pemba.delete_attributes('t1', '{document:0$public}')`, 1],
  [`pemba.token('t1') is not null`, true],
  [`pemba.announce()`, ""],
  [`pemba.may(${t1}, '10', 'view', 'user', 'bob')`, true],
  [`array(select pemba.may_of(${t1}, '{10,11}', 'view', 'user', 'bob'))`, ["10"]],
  [`array(select pemba.visible(${t1}, 'view', 'user', 'bob'))`, ["10"]],
  [`pemba.visible_ids(${t1}, 'view', 'user', 'bob')`, ["10"]],
  [`pemba.visible_count(${t1}, 'view', 'user', 'bob')`, 1],
  [`array(select pemba.who(${t1}, '10', 'view', 'user'))`, ["bob"]],
  [`array(select d.id from pemba.documents_titled('t1', 'ada', null, null, 9, 'a') as d)`, ["1"]],
  [`pemba.delete_entity(${t1}, '10')`, 1],
  [`pemba.delete_entity('t1', 'user', 'bob')`, 0],
  [`pemba.keep_map('m', 'app.m', '{}', 't1', '[]')`, ""],
  [`pemba.drop_map('m')`, ""],
];

for (const [call, result] of calls) {
  test(`a call runs nothing of others: ${call}`, async () => {
    const [row] = await scene.app.unsafe(`select ${call} as result`);
    assert.deepEqual(row?.["result"], result);
  });
}

/** Calls that are refused, which look up more names. */
const refusals: readonly (readonly [call: string, code: string])[] = [
  [`write_tuple(${t1}, '10', 'viewr', 'user', 'bob')`, "PB005"],
  [`write_tuples('t1', '{document:11#viewr@user:bob,x}')`, "PB005"],
  [`write_tuples('t1', '{document:11#owner@user:bob}')`, "PB006"],
  [`delete_tuples('t1', '{document}')`, "PB005"],
  [`write_attributes('t1', '[{}, {"attribute": 1}]')`, "PB005"],
  [`delete_attributes('t1', '{document}')`, "PB005"],
  [`delete_attributes('t1', '{document:1$title}')`, "PB006"],
  [`delete_entity('t1', '!', '10')`, "PB005"],
  [`may(${t1}, '10', 'viewr', 'user', 'bob')`, "PB001"],
  [`token('none')`, "PB004"],
];

for (const [call, code] of refusals) {
  test(`a call that is refused runs nothing of others: ${call}`, async () => {
    await assert.rejects(scene.app.unsafe(`select pemba.${call}`), { code });
  });
}

test("the functions work where the name of the tables' schema needs quotes", async (t) => {
  const place = await createTestDatabase();
  const sql = connect(place.url, 1);
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await place.drop();
  });
  await sql`create schema "Of Pemba"`;
  const url = `${place.url}?search_path=${encodeURIComponent('"Of Pemba"')}`;
  const store = await openStore(url, { sql: interfaceOptions });
  try {
    await store.schemas.write(tenantId("t1"), { text: mappedSchema });
    const [row] = await sql`
      select pemba.write_tuples('t1', '{document:1#viewer@user:a,document:2#viewer@group:b#member}') as made
    `;
    assert.equal(row?.["made"], 2);
    for (const [type, count] of [
      ["document", 1],
      ["group", 0],
    ] as const) {
      const [gone] = await sql`select pemba.delete_entity('t1', ${type}, '1') as count`;
      assert.equal(gone?.["count"], count);
    }
    const [token] = await sql`select pemba.token('t1') is not null as is_there`;
    assert.equal(token?.["is_there"], true);
  } finally {
    await store.close();
  }
});

test("a start makes the functions of an earlier version anew, with their search path", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  const sql = connect(url, 1);
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await drop();
  });
  await (await openStore(url, { sql: interfaceOptions })).close();
  await sql.unsafe(`
    alter function pemba.token(text) set search_path to pg_catalog, public, pg_temp;
    update pemba_plans.installation set version = 9;
  `);
  await (await openStore(url, { sql: interfaceOptions })).close();
  const [row] = await sql`
    select proconfig[1] as path from pg_proc where oid = 'pemba.token(text)'::regprocedure
  `;
  assert.equal(row?.["path"], "search_path=pg_catalog, pg_temp");
});

/** Changes of mapped tables: of few rows and of many. */
const changes: readonly string[] = [
  "insert into public.documents values (3, 'ada', 'c')",
  "insert into public.documents select n, 'cleo', 'many' from pg_catalog.generate_series(4, 9) as n",
  "update public.documents set owner_id = 'bob', title = 'd' where id = 3",
  "update public.documents set owner_id = 'bob', title = 'e'",
  "delete from public.documents where id = 3",
  "delete from public.documents where id > 3",
  "truncate public.documents",
  "insert into app.folders values ('t1', 'a', 'ada'), ('t1', 'b', 'ada')",
  "update app.folders set owner_id = 'bob'",
  "delete from app.folders",
];

for (const change of changes) {
  test(`the trigger of a map runs nothing of others: ${change}`, async () => {
    await scene.app.unsafe(change);
  });
}

test("a row that no map can derive from is refused with nothing of others", async () => {
  const change = scene.app.unsafe("insert into public.documents values (20, 'no id', 'x')");
  await assert.rejects(change, { code: "PB005" });
});

test("the traps catch a function that looks names up beside the tables", async () => {
  const { owner, app, role } = scene;
  for (const [name, body] of [
    ["of_polymorphic", "cardinality('{a}'::text[])"],
    ["of_operator", "cardinality('{a}'::text[] || '{b}'::text[])"],
    ["of_literal", "public.lock_key(0, 0)"],
  ]) {
    await owner.unsafe(`
      create function pemba.${name}() returns bigint
        language plpgsql security definer set search_path to pg_catalog, public, pg_temp
        as $$ begin return ${body}; end $$;
      grant execute on function pemba.${name} to ${role};
    `);
    await assert.rejects(app.unsafe(`select pemba.${name}()`), { code: trapped });
    await owner.unsafe(`drop function pemba.${name}`);
  }
});

test("no function with the rights of its owner looks names up in a schema of others", async () => {
  const rows = await scene.owner<{ name: string; settings: string[] | null }[]>`
    select p.oid::regprocedure::text as name, p.proconfig as settings
    from pg_catalog.pg_proc as p
    where p.prosecdef and p.proowner <> ${scene.role}::regrole
    order by 1
  `;
  const paths = rows.map(({ name, settings }) => [
    name,
    settings?.find((setting) => setting.startsWith("search_path=")),
  ]);
  // Those of questions, of writes and tokens, of maps and of lists.
  assert.ok(paths.length > 20, String(paths.length));
  assert.deepEqual(
    paths.filter(([, path]) => path !== "search_path=pg_catalog, pg_temp"),
    [],
  );
});
