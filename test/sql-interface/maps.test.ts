/** Tuples and attributes that triggers derive from tables. */
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";

import { newTenant } from "../store/engines.ts";
import { mappedSchema, type MapScene, openMaps } from "./map-scene.ts";

let scene: MapScene;

before(async () => {
  scene = await openMaps();
  await scene.owner`create schema app`;
});

after(async () => {
  await scene.close();
});

/** Makes a table and its map, which end with the test. */
async function mapped(t: TestContext, table: string, maps: string): Promise<void> {
  const { owner, install, drop } = scene;
  await owner.unsafe(table);
  await install(maps);
  t.after(async () => {
    await owner`delete from app.documents`;
    await drop(maps);
    await owner`drop table app.documents`;
  });
}

const documents = `create table app.documents (
  id bigint primary key, owner_id text, folder_id bigint, team_id uuid, is_public boolean, title text
)`;

const documentsMap = `
- table: app.documents
  tenant: t1
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}", "parent@folder:{folder_id}", "viewer@group:{team_id}#member"]
  attributes: ["public: {is_public}"]
`;

test("rows give tuples and attributes, and a null gives none", async (t) => {
  await mapped(t, documents, documentsMap);
  const { owner, stored } = scene;
  const team = "00000000-0000-4000-8000-000000000001";
  await owner`insert into app.documents values
    (1, 'ada', 7, ${team}, true, 'a'), (2, 'bob', null, null, null, 'b')`;
  assert.deepEqual(await stored(), [
    "document 1 owner user ada",
    "document 1 parent folder 7",
    "document 1 public booleantrue",
    `document 1 viewer group ${team} member`,
    "document 2 owner user bob",
  ]);
  await owner`update app.documents set owner_id = 'cleo', is_public = false, team_id = null where id = 1`;
  await owner`update app.documents set folder_id = 8, owner_id = null where id = 2`;
  assert.deepEqual(await stored(), [
    "document 1 owner user cleo",
    "document 1 parent folder 7",
    "document 1 public booleanfalse",
    "document 2 parent folder 8",
  ]);
  // Each row takes the key of another one, in the end.
  await owner`update app.documents set id = id + 10`;
  await owner`update app.documents set id = 13 - id`;
  assert.deepEqual(await stored(), [
    "document 1 parent folder 8",
    "document 2 owner user cleo",
    "document 2 parent folder 7",
    "document 2 public booleanfalse",
  ]);
  await owner`delete from app.documents where id = 2`;
  assert.deepEqual(await stored(), ["document 1 parent folder 8"]);
});

test("a rollback takes the tuples with the rows, and a transaction sees its own", async (t) => {
  await mapped(t, documents, documentsMap);
  const { owner, stored } = scene;
  await owner
    .begin(async (inside) => {
      await inside`insert into app.documents values (1, 'ada', null, null, null, 'a')`;
      const [row] = await inside`select pemba.may('t1', 'document', '1', 'edit', 'user', 'ada')`;
      assert.equal(row?.["may"], true);
      throw new Error("undone");
    })
    .catch(() => undefined);
  assert.deepEqual(await stored(), []);
});

test("only what changes a mapped column needs the isolation level read committed", async (t) => {
  await mapped(t, documents, documentsMap);
  const { owner, stored } = scene;
  await owner`insert into app.documents values (1, 'ada', null, null, null, 'a')`;
  const at = async (statement: string) =>
    await owner.begin("isolation level repeatable read", async (inside) => {
      await inside.unsafe(statement);
    });
  await at("update app.documents set title = 'b'");
  await assert.rejects(at("update app.documents set owner_id = 'bob'"), { code: "25001" });
  await assert.rejects(at("delete from app.documents"), { code: "25001" });
  assert.deepEqual(await stored(), ["document 1 owner user ada"]);
});

test("a column can name the tenant, and rows of none that exists can only go", async (t) => {
  await mapped(
    t,
    "create table app.documents (tenant_id text, id text, owner_id text, primary key (tenant_id, id))",
    `
- table: app.documents
  tenant: "{tenant_id}"
  entity: "document:{id}"
  tuples: ["owner@user:u-{owner_id}"]
`,
  );
  const { owner, stored, store } = scene;
  const [one, two] = [await newTenant(store), await newTenant(store)];
  await owner`insert into app.documents values (${one}, 'a', 'ada'), (${two}, 'a', 'bob')`;
  assert.deepEqual(await stored(one), ["document a owner user u-ada"]);
  await owner`update app.documents set tenant_id = ${two}, id = 'c' where tenant_id = ${one}`;
  assert.deepEqual(await stored(one), []);
  assert.deepEqual(await stored(two), [
    "document a owner user u-bob",
    "document c owner user u-ada",
  ]);
  await assert.rejects(owner`insert into app.documents values ('missing', 'a', 'ada')`, {
    code: "PB004",
    message: "the tenant `missing` does not exist",
  });
  await store.tenants.delete(two);
  await assert.rejects(owner`update app.documents set owner_id = 'eve'`, { code: "PB004" });
  await owner`update app.documents set owner_id = null where id = 'a'`;
  await owner`delete from app.documents`;
});

test("a row whose text is no id is refused, and names the table and the value", async (t) => {
  await mapped(
    t,
    "create table app.documents (id text primary key, owner_id text, is_public boolean)",
    `
- table: app.documents
  tenant: t1
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}"]
  attributes: ["public: {is_public}"]
`,
  );
  const { owner, stored } = scene;
  await assert.rejects(owner`insert into app.documents values ('1', 'ada b', true)`, {
    code: "PB005",
    message:
      "a row of app.documents has no permission data: the id of the subject `ada b` is not an id of 1 to 128 characters a-z A-Z 0-9 _ - @ . : + (or `*` alone)",
    detail: "the map `documents` makes `document:1#owner@user:ada b` of it",
  });
  await assert.rejects(owner`insert into app.documents values ('', null, true)`, {
    code: "PB005",
    message: /the id of the entity is missing/,
  });
  await assert.rejects(
    owner`insert into app.documents select 'x' || n, case n when 7 then 'é' else 'a' end from generate_series(1, 9) n`,
    { code: "PB005", message: /`é` is not an id/ },
  );
  assert.deepEqual(await stored(), []);
});

test("a row of a tenant that a move hides stays, since the tenant may come back", async (t) => {
  const { owner, stored, tenant } = scene;
  const maps = documentsMap.replace(
    '"public: {is_public}"',
    '"public: {is_public}", "title: {title}"',
  );
  await mapped(t, documents, `${maps.trimEnd()}\n  truncate: delete\n`);
  await owner`insert into app.documents values (1, 'ada', null, null, true, 'a')`;
  const derived = await stored();
  const [{ number } = { number: 0 }] = await owner`select number from tenants where id = ${tenant}`;
  const mover = "00000000-0000-0000-0000-000000000001";
  await owner`insert into departures (number, id, mover) values (${number}, ${tenant}, ${mover})`;
  await owner`select hide_tenant(${number}, ${mover})`;
  for (const statement of [
    "delete from app.documents",
    "update app.documents set owner_id = null",
    "update app.documents set title = null",
    "truncate app.documents",
  ]) {
    await assert.rejects(owner.unsafe(statement), { code: "PB004" }, statement);
  }
  await owner`select show_tenant(${number}, ${mover})`;
  await owner`delete from departures`;
  assert.deepEqual(await stored(), derived);
  await owner`truncate app.documents`;
  assert.deepEqual(await stored(), []);
});

test("truncate is refused, unless the map lets it delete what it derives", async (t) => {
  await mapped(t, documents, documentsMap);
  const { owner, stored, install, store } = scene;
  await owner`insert into app.documents select n, 'ada', n, null, n % 2 = 0 from generate_series(1, 20) n`;
  await assert.rejects(owner`truncate app.documents`, {
    code: "55000",
    message:
      "the table app.documents cannot be truncated: the map `documents` derives permission data from its rows",
  });
  assert.equal((await stored()).length, 60);
  await store.data.write(scene.tenant, {
    schemaVersion: undefined,
    tuples: [
      {
        entity: { type: "document", id: "1" },
        relation: "viewer",
        subject: { type: "user", id: "eve", relation: "" },
      },
    ],
    attributes: [],
  });
  await install(`${documentsMap}  truncate: delete\n`);
  await owner`truncate app.documents`;
  assert.deepEqual(await stored(), ["document 1 viewer user eve"]);
  await scene.owner`select pemba.delete_entity('t1', 'document', '1')`;
});

test("tables and columns may have any names", async () => {
  const { owner, install, drop, stored, pemba } = scene;
  await owner.unsafe(`
    create table app."a"".b; drop table --" (
      "k""; -- ' \\" uuid, "new" varchar(40), "$map$" text, primary key ("k""; -- ' \\", "new")
    )
  `);
  const maps = `
- table: 'app."a"".b; drop table --"'
  name: odd
  tenant: t1
  entity: 'document:{"k""; -- '' \\"}.{"new"}'
  tuples: ['owner@user:{"$map$"}']
  attributes: ['title: {"$map$"}']
`;
  await install(maps);
  const key = "00000000-0000-4000-8000-000000000007";
  await owner.unsafe(`insert into app."a"".b; drop table --" values ($1, 'x', 'ada')`, [key]);
  await owner.unsafe(`update app."a"".b; drop table --" set "$map$" = 'bob'`);
  assert.deepEqual(await stored(), [
    `document ${key}.x owner user bob`,
    `document ${key}.x title string"bob"`,
  ]);
  await owner.unsafe(`alter table app."a"".b; drop table --" disable trigger all`);
  await owner.unsafe(`update app."a"".b; drop table --" set "$map$" = 'eve'`);
  await owner.unsafe(`alter table app."a"".b; drop table --" enable trigger all`);
  const mended = await pemba("reconcile", "--repair");
  assert.deepEqual([mended.status, mended.stderr], [0, ""]);
  assert.deepEqual(await stored(), [
    `document ${key}.x owner user eve`,
    `document ${key}.x title string"eve"`,
  ]);
  await owner.unsafe(`delete from app."a"".b; drop table --"`);
  await drop(maps);
});

test("a key whose collation takes different ids for the same gives them as they are", async (t) => {
  const { owner, stored, pemba } = scene;
  const [icu] = await owner`select from pg_collation where collprovider = 'i' limit 1`;
  if (icu === undefined) {
    t.skip("the server has no ICU");
    return;
  }
  await owner`
    create collation app.alike (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
  `;
  await mapped(
    t,
    `create table app.documents (
      id text collate app.alike primary key, owner_id text collate app.alike
    )`,
    `
- table: app.documents
  tenant: t1
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}"]
`,
  );
  await owner`insert into app.documents values ('a', 'ada')`;
  await owner`update app.documents set id = 'A', owner_id = 'Ada'`;
  assert.deepEqual(await stored(), ["document A owner user Ada"]);
  await owner`alter table app.documents disable trigger all`;
  await owner`update app.documents set id = 'a'`;
  await owner`alter table app.documents enable trigger all`;
  const mended = await pemba("reconcile", "--repair");
  assert.deepEqual([mended.status, mended.stderr], [0, ""]);
  assert.deepEqual(mended.stdout.trimEnd().split("\n").toSorted(), [
    "documents: 1 missing, 1 surplus, 2 repaired",
    "missing t1 document:a#owner@user:Ada",
    "surplus t1 document:A#owner@user:Ada",
  ]);
  assert.deepEqual(await stored(), ["document a owner user Ada"]);
});

test("a row that gives a tuple by two columns gives it once", async (t) => {
  await mapped(
    t,
    documents,
    `
- table: app.documents
  tenant: t1
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}", "owner@user:{title}"]
`,
  );
  const { owner, stored, pemba } = scene;
  await owner`insert into app.documents (id, owner_id, title) values (1, 'ada', 'ada')`;
  await owner`
    insert into app.documents (id, owner_id, title)
    select n, 'x', 'x' from generate_series(11, 14) n
  `;
  await owner`delete from app.documents where id > 10`;
  assert.deepEqual(await stored(), ["document 1 owner user ada"]);
  await owner`update app.documents set title = 'bob'`;
  assert.deepEqual(await stored(), ["document 1 owner user ada", "document 1 owner user bob"]);
  await owner`update app.documents set owner_id = 'bob'`;
  assert.deepEqual(await stored(), ["document 1 owner user bob"]);
  await owner`alter table app.documents disable trigger all`;
  await owner`update app.documents set owner_id = 'eve', title = 'eve'`;
  await owner`alter table app.documents enable trigger all`;
  const told = await pemba("reconcile");
  assert.deepEqual(told.stdout.trimEnd().split("\n").toSorted(), [
    "documents: 1 missing, 1 surplus",
    "missing t1 document:1#owner@user:eve",
    "surplus t1 document:1#owner@user:bob",
  ]);
  const mended = await pemba("reconcile", "--repair");
  assert.match(mended.stdout, /1 missing, 1 surplus, 2 repaired\n$/);
  assert.deepEqual(await stored(), ["document 1 owner user eve"]);
});

test("a foreign key that cascades changes tuples with the rows", async (t) => {
  const { owner, stored } = scene;
  await owner`create table app.folders (id bigint primary key)`;
  await mapped(
    t,
    `create table app.documents (
      id bigint primary key,
      parent_id bigint references app.documents on delete cascade on update cascade,
      folder_id bigint references app.folders on delete set null on update cascade
    )`,
    `
- table: app.documents
  tenant: t1
  entity: "folder:d{id}"
  tuples: ["parent@folder:d{parent_id}", "parent@folder:{folder_id}"]
`,
  );
  await owner`insert into app.folders values (7), (8)`;
  await owner`insert into app.documents values (1, 1, 7), (2, 1, 7), (3, 2, 8)`;
  await owner`update app.folders set id = 9 where id = 7`;
  await owner`delete from app.folders where id = 8`;
  await owner`update app.documents set id = 10 where id = 1`;
  assert.deepEqual(await stored(), [
    "folder d10 parent folder 9",
    "folder d10 parent folder d10",
    "folder d2 parent folder 9",
    "folder d2 parent folder d10",
    "folder d3 parent folder d2",
  ]);
  await owner`delete from app.documents where id = 10`;
  assert.deepEqual(await stored(), []);
});

test("a row that a cascade changes again gives what it has in the end", async (t) => {
  await mapped(
    t,
    `create table app.documents (
      id text primary key, main_id text references app.documents on update cascade, owner_id text
    )`,
    `
- table: app.documents
  tenant: t1
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}"]
`,
  );
  const { owner, stored } = scene;
  await owner`insert into app.documents values ('a', 'a', 'ada')`;
  // The cascade changes a column that is not in the map, after the key has changed.
  await owner`update app.documents set id = 'b'`;
  assert.deepEqual(await stored(), ["document b owner user ada"]);
});

test("a trigger of the application that changes the row again has the last word", async (t) => {
  await mapped(t, documents, documentsMap);
  const { owner, stored } = scene;
  await owner.unsafe(`
    create function app.again() returns trigger language plpgsql as $$
    begin
      update app.documents set owner_id = 'zoe' where id = new.id;
      return null;
    end $$;
    create trigger again after insert or update of title on app.documents
      for each row execute function app.again();
  `);
  await owner`insert into app.documents values (1, 'ada', null, null, null, 'a')`;
  await owner`update app.documents set title = 'b', owner_id = 'bob'`;
  assert.deepEqual(await stored(), ["document 1 owner user zoe"]);
});

test("one statement that deletes and inserts the same keys leaves what the rows give", async (t) => {
  await mapped(t, documents, documentsMap);
  const { owner, stored } = scene;
  await owner`insert into app.documents values (1, 'ada', null, null, true), (2, 'bob', null, null, true)`;
  await owner`
    with gone as (delete from app.documents returning *)
    insert into app.documents (id, owner_id, is_public)
      select id, case id when 1 then 'ada' else 'eve' end, is_public from gone
  `;
  assert.deepEqual(await stored(), [
    "document 1 owner user ada",
    "document 1 public booleantrue",
    "document 2 owner user eve",
    "document 2 public booleantrue",
  ]);
});

test("a role that may only change the table derives tuples, and sees no table of Pemba", async (t) => {
  await mapped(t, documents, documentsMap);
  const { owner, newRole, stored } = scene;
  const { name, sql } = await newRole(t);
  await owner`grant usage on schema app to ${owner(name)}`;
  await owner`grant insert on app.documents to ${owner(name)}`;
  await sql`insert into app.documents values (1, 'ada')`;
  assert.deepEqual(await stored(), ["document 1 owner user ada"]);
  await assert.rejects(sql`select from relationships`, { code: "42501" });
});

test("the owner of a table makes its triggers with the rights of a grant", async (t) => {
  const { owner, newRole, printed, apply, file, stored } = scene;
  const { name, sql } = await newRole(t);
  await owner`grant create, usage on schema app to ${owner(name)}`;
  const session = await sql.reserve();
  await session.unsafe(documents);
  await apply(await printed("grant", "--role", name, "--for", "map"));
  await session.unsafe(await printed("map", file(documentsMap)));
  await sql`insert into app.documents values (1, 'ada')`;
  assert.deepEqual(await stored(), ["document 1 owner user ada"]);
  // Rows that row security hides from the owner would look as if they gave nothing.
  await sql`alter table app.documents enable row level security`;
  await sql`insert into app.documents values (2, 'ada')`;
  await sql`alter table app.documents force row level security`;
  await sql`create policy own on app.documents using (true)`;
  await assert.rejects(sql`insert into app.documents values (3, 'ada')`, { code: "42501" });
  await sql`delete from app.documents`.catch(() => undefined);
  await sql`alter table app.documents no force row level security`;
  await sql`delete from app.documents`;
  assert.deepEqual(await stored(), []);
  await session.unsafe(await printed("map", file(documentsMap), "--drop"));
  session.release();
  await sql`drop table app.documents`;
});

test("a schema that no longer has a relation stops no row, and status tells it", async (t) => {
  await mapped(t, documents, documentsMap);
  const { owner, stored, store, pemba } = scene;
  await store.schemas.write(scene.tenant, {
    text: mappedSchema.replaceAll("parent.view", "owner").replaceAll("relation parent @folder", ""),
  });
  await owner`insert into app.documents values (1, 'ada', 7)`;
  assert.deepEqual(await stored(), ["document 1 owner user ada", "document 1 parent folder 7"]);
  const status = await pemba("status");
  assert.match(
    status.stdout,
    /maps: 1\n {2}documents of app\.documents\n {4}no schema has `document#parent@folder`: it is kept, and answers nothing/,
  );
  await store.schemas.write(scene.tenant, { text: mappedSchema });
  await owner`alter table app.documents disable trigger pemba_documents_update`;
  const disabled = await pemba("status");
  assert.equal(disabled.status, 2);
  assert.match(disabled.stdout, /1 of its triggers are not there or disabled/);
});
