import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { newTenant, tuple, write } from "../store/engines.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";
import { type ListOptions, makeList, printed, ways } from "./list-scene.ts";

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity folder {
    relation parent @folder
    relation viewer @user @group#member
    permission view = viewer or parent.view
  }
  entity doc {
    relation parent @folder
    relation banned @user
    relation viewer @user @group#member
    permission view = (viewer or parent.view) not banned
  }
`;

const users = ["none", "some", "most", "all"];
const count = 60;

let scene: InterfaceScene;
let tenant: TenantId;

before(async () => {
  scene = await openInterface();
  tenant = await newTenant(scene.store);
  await scene.store.schemas.write(tenant, { text: schema });
  const ids = Array.from({ length: count }, (_, index) => index);
  await write(scene.store, tenant, {
    tuples: [
      "group:one#member@user:most",
      "group:two#member@group:one#member",
      "folder:top#viewer@user:all",
      "folder:sub#viewer@group:two#member",
      "folder:sub#parent@folder:top",
      ...ids.map((index) => `doc:${index}#parent@folder:${index % 4 === 0 ? "top" : "sub"}`),
      ...ids.filter((index) => index % 9 === 0).map((index) => `doc:${index}#viewer@user:some`),
      ...ids.filter((index) => index % 5 === 0).map((index) => `doc:${index}#banned@user:most`),
      "doc:unknown#viewer@user:some",
      "doc:99999999999999999999#viewer@user:some",
      "doc:00#viewer@user:some",
    ],
  });
  await scene.owner.unsafe(`
    create schema app;
    create table app.docs (
      id bigint primary key, created_at timestamptz not null, reviewed_at date, status text not null
    );
    insert into app.docs
    select i, timestamptz '2024-01-01' + interval '1 day' * (i * 7 % 20),
      case when i % 3 = 0 then null else date '2024-01-01' + i * 11 % 17 end,
      case when i % 2 = 0 then 'open' else 'closed' end
    from generate_series(0, ${count - 1}) as i;
    create index on app.docs (created_at desc, id);
    create index on app.docs (reviewed_at desc, id);
    create index on app.docs (reviewed_at desc nulls last, id);
    create index on app.docs (reviewed_at nulls first, id desc);
    create index on app.docs (status, reviewed_at desc, created_at, id desc);
    create view app.open_docs as select * from app.docs where status = 'open';
    analyze app.docs;
  `);
});

after(async () => {
  await scene.close();
});

const docs = {
  table: "app.docs",
  key: "id",
  name: "docs",
  where: "",
  question: { entityType: "doc", permission: "view", subjectType: "user" },
};

/** All rows, page by page. */
async function pages(
  { name }: Pick<ListOptions, "name">,
  columns: readonly string[],
  user: string,
  size: number,
  more = "",
): Promise<string[]> {
  const { owner } = scene;
  const found: string[] = [];
  let place: readonly (string | null)[] = columns.map(() => null);
  for (;;) {
    const values = place.map((_, index) => `$${index + 2}`).join(", ");
    const texts = columns.map((column) => `l.${column}::text as "${column}"`).join(", ");
    const rows = await owner.unsafe<Record<string, string | null>[]>(
      `select ${texts} from pemba."${name}"('${tenant}', $1, ${values}, ${size}${more}) as l`,
      [user, ...place],
    );
    found.push(...rows.map((row) => row["id"] ?? row["Id"] ?? ""));
    const last = rows.at(-1);
    if (last === undefined || rows.length < size) return found;
    place = columns.map((column) => last[column.replaceAll('"', "")] ?? null);
  }
}

async function checked(order: string, user: string, where = "true"): Promise<string[]> {
  const rows = await scene.owner.unsafe<{ key: string }[]>(
    `select d.id::text as key from app.docs as d
    where pemba.may('${tenant}', 'doc', d.id::text, 'view', 'user', '${user}') and (${where})
    order by ${order}`,
  );
  return rows.map(({ key }) => key);
}

const orders = [
  { order: "created_at desc", columns: ["created_at"], by: "created_at desc, id" },
  { order: "reviewed_at desc, id", columns: ["reviewed_at"], by: "reviewed_at desc, id" },
  {
    order: "reviewed_at desc nulls last, id",
    columns: ["reviewed_at"],
    by: "reviewed_at desc nulls last, id",
  },
  { order: "reviewed_at, id desc", columns: ["reviewed_at"], by: "reviewed_at, id desc" },
  {
    order: "reviewed_at nulls first, id desc",
    columns: ["reviewed_at"],
    by: "reviewed_at nulls first, id desc",
  },
  {
    order: "status desc, reviewed_at asc, created_at desc, id",
    columns: ["status", "reviewed_at", "created_at"],
    by: "status desc, reviewed_at, created_at desc, id",
  },
  { order: "id desc", columns: [], by: "id desc" },
];

for (const [way, bounds] of Object.entries(ways)) {
  test(`pages of a list by ${way} are those that a check of each row gives`, async () => {
    for (const { order, columns, by } of orders) {
      await makeList(scene, { ...docs, order, bounds });
      for (const user of users) {
        const expected = await checked(by, user);
        const found = await pages(docs, [...columns, "id"], user, 7);
        assert.deepEqual(found, expected, `${order} for ${user}`);
      }
    }
  });
}

for (const [way, bounds] of Object.entries(ways)) {
  test(`a condition holds for all rows of a list by ${way}`, async () => {
    const where = "status = $status -- not '$this'\n and reviewed_at > $since or id = 9";
    await makeList(scene, { ...docs, name: "some docs", order: "created_at desc", where, bounds });
    for (const user of users) {
      const found = await pages(
        { name: "some docs" },
        ["created_at", "id"],
        user,
        4,
        ", 'open', '2024-01-03'",
      );
      const expected = await checked(
        "created_at desc, id",
        user,
        "status = 'open' and reviewed_at > '2024-01-03' or id = 9",
      );
      assert.deepEqual(found, expected, user);
    }
  });
}

test("an index that has the condition and the order is used for both", async () => {
  const { text } = await printed(scene, {
    ...docs,
    order: "reviewed_at desc, created_at, id desc",
    where: "status = $status",
  });
  assert.match(text, /and \(\nstatus = pemba_list\.value_7\n\)\n\s+order by/);
});

test("rows that come between two pages neither repeat nor hide another row", async () => {
  const { owner } = scene;
  await makeList(scene, { ...docs, name: "live", order: "created_at desc" });
  const page = async (after: readonly [string, string] | readonly [null, null]) =>
    await owner.unsafe<{ id: string; at: string }[]>(
      `select l.id::text as id, l.created_at::text as at
      from pemba.live('${tenant}', 'all', $1, $2, 10) as l`,
      [...after],
    );
  const first = await page([null, null]);
  const last = first.at(-1);
  assert.ok(last !== undefined);
  await owner`insert into app.docs values (1000, '2030-01-01', null, 'open'), (1001, '2020-01-01', null, 'open')`;
  await write(scene.store, tenant, {
    tuples: ["doc:1000#viewer@user:all", "doc:1001#viewer@user:all"],
  });
  const rest: string[] = [];
  let place: readonly [string, string] = [last.at, last.id];
  for (;;) {
    const rows = await page(place);
    rest.push(...rows.map((row) => row.id));
    const end = rows.at(-1);
    if (end === undefined) break;
    place = [end.at, end.id];
  }
  const seen = [...first.map((row) => row.id), ...rest];
  assert.deepEqual(
    seen,
    (await checked("created_at desc, id", "all")).filter((each) => each !== "1000"),
  );
  await owner`delete from app.docs where id >= 1000`;
});

test("names of any characters are names and nothing else", async () => {
  const { owner } = scene;
  const key = "0b3f6a0e-4d0e-4a44-9d6c-0f1f3a8f0a01";
  const viewed = { ...tuple("doc:1#viewer@user:some"), entity: { type: "doc", id: key } };
  await scene.store.data.write(tenant, {
    schemaVersion: undefined,
    tuples: [viewed],
    attributes: [],
  });
  await owner.unsafe(`
    create schema "a""b $list$";
    create table "a""b $list$"."Docs'; --" (
      "Id" uuid primary key, "pag""e" text, ids text, tenant text not null, "états $1" text
    );
    create index on "a""b $list$"."Docs'; --" ("pag""e", tenant desc, "Id");
    insert into "a""b $list$"."Docs'; --" values ('${key}', null, 'x', 'y', 'z');
  `);
  await makeList(scene, {
    ...docs,
    table: `"a""b $list$"."Docs'; --"`,
    key: "Id",
    name: `l"is't $list$`,
    order: `"pag""e", tenant desc`,
    where: `ids = $a and "états $1" <> '$b' and tenant = 'y'`,
  });
  const rows = await owner.unsafe<Record<string, string>[]>(
    `select * from pemba."l""is't $list$"('${tenant}', 'some', null, null, null, 5, 'x')`,
  );
  assert.deepEqual(
    rows.map((row) => row["Id"]),
    [key],
  );
});

test("a partitioned table has lists", async () => {
  const { owner } = scene;
  await owner.unsafe(`
    create table app.parts (id text not null, at date not null) partition by range (at);
    create table app.parts_1 partition of app.parts for values from ('2024-01-01') to ('2024-02-01');
    create table app.parts_2 partition of app.parts for values from ('2024-02-01') to ('2025-01-01');
    create index on app.parts (at desc, id);
    create index on app.parts (id);
    insert into app.parts
    select i::text, date '2024-01-01' + i from generate_series(0, ${count - 1}) as i;
  `);
  for (const bounds of Object.values(ways)) {
    const parts = { ...docs, table: "app.parts", name: "parts", order: "at desc", bounds };
    const { warnings } = await printed(scene, parts);
    assert.match(warnings.join(), /unique/);
    await makeList(scene, parts);
    assert.deepEqual(await pages(parts, ["at", "id"], "most", 7), await checked("id desc", "most"));
  }
});

test("a role that may call a list needs no right on its table", async () => {
  const { app, owner, role } = scene;
  await makeList(scene, { ...docs, name: "granted", order: "id" });
  const ask = async () =>
    await app.unsafe(`select id from pemba.granted('${tenant}', 'all', null, 1)`);
  await assert.rejects(ask(), { code: "42501" });
  const signature = "pemba.granted(text, text, bigint, integer)";
  await owner.unsafe(`grant execute on function ${signature} to ${role}`);
  assert.equal((await ask()).length, 1);
});

test("a list that is made again keeps its grants, unless its parameters change", async () => {
  const { app, owner, role } = scene;
  const kept = { ...docs, name: "kept", order: "id" };
  await makeList(scene, kept);
  await owner.unsafe(`grant execute on function pemba.kept to ${role}`);
  const again = await printed(scene, kept);
  assert.doesNotMatch(again.text, /drop function/);
  await makeList(scene, kept);
  assert.equal((await app`select id from pemba.kept(${tenant}, 'all', null, 1)`).length, 1);
  for (const changed of [{ order: "created_at desc, id" }, { where: "status = $status" }]) {
    const { text, warnings } = await printed(scene, { ...kept, ...changed });
    assert.match(text, /drop function if exists "pemba"\."kept"\(tenant text, /);
    assert.match(warnings.join(), /--name: `kept` has other parameters now/);
  }
});

test("types of any schema are in orders and conditions", async () => {
  const { owner } = scene;
  await owner.unsafe(`
    create type public.mood as enum ('good', 'bad');
    create type app.mood as enum ('x', 'y');
    create table app.moods (id bigint primary key, first public.mood not null, other app.mood);
    create index on app.moods (first desc, id);
    insert into app.moods values (0, 'bad', 'x'), (8, 'good', 'x'), (16, 'bad', 'y'), (12, 'bad', 'x');
  `);
  const moods = { ...docs, table: "app.moods", name: "moods", order: "first desc, id" };
  await makeList(scene, { ...moods, where: "other = $other" });
  const { text } = await printed(scene, { ...moods, where: "other = $another" });
  assert.match(text, /drop function if exists .*first public\.mood, .* other app\.mood\);/);
  const rows = await owner`
    select id::text from pemba.moods(${tenant}, 'all', 'bad', 0, 10, 'x')
  `;
  assert.deepEqual(
    rows.map(({ id }) => String(id)),
    ["12", "8"],
  );
});

test("the collations of the row before change no page", async () => {
  const { owner } = scene;
  await owner.unsafe(`
    create table app.named (
      id text primary key, title text collate "POSIX" not null, other text collate "C" not null
    );
    create index on app.named (title, id);
    insert into app.named select i::text, 'same', 'same' from generate_series(0, 20, 4) as i;
  `);
  const named = { ...docs, table: "app.named", name: "named", order: "title" };
  await makeList(scene, { ...named, where: "title = $title and other = $title" });
  const [row] = await owner`
    select array(
      select l.id
      from pemba.named(${tenant}, 'all', last.title, last.id, 2, last.title) as l
    ) as next
    from app.named as last
    where last.id = '12'
  `;
  assert.deepEqual(row?.["next"], ["16", "20"]);
});

test("a list has the rows without data that a rule allows, also if the permission leads to itself", async () => {
  const { owner, store } = scene;
  const here = await newTenant(store);
  await store.schemas.write(here, {
    text: `
      entity user {}
      entity shelf {
        relation owner @user
        relation parent @shelf
        attribute level integer
        permission view = owner or parent.view or low(level)
      }
      rule low(level integer) { level < 3 }
    `,
  });
  await write(store, here, {
    tuples: ["shelf:b#parent@shelf:a", "shelf:c#parent@shelf:d"],
    attributes: ["c", "d"].map((id) => ({
      entity: { type: "shelf", id },
      attribute: "level",
      value: { type: "integer", data: 9 },
    })),
  });
  await owner`create table app.shelves (id text primary key)`;
  await owner`insert into app.shelves values ('a'), ('b'), ('c'), ('unknown')`;
  const shelves = {
    ...docs,
    table: "app.shelves",
    order: "id",
    question: { entityType: "shelf", permission: "view", subjectType: "user" },
  };
  for (const [place, bounds] of Object.values(ways).entries()) {
    const name = `shelves_${place}`;
    await makeList(scene, { ...shelves, name, bounds });
    const rows = await owner.unsafe(`select id from pemba.${name}($1, 'ada', null, 10)`, [here]);
    assert.deepEqual(
      rows.map((row): unknown => row["id"]),
      ["a", "b", "unknown"],
      name,
    );
  }
});

test("a list refuses arguments that name no page", async () => {
  const { owner } = scene;
  await makeList(scene, { ...docs, name: "strict", order: "created_at desc" });
  const ask = async (values: string): Promise<readonly unknown[]> =>
    await owner.unsafe(`select * from pemba.strict('${tenant}', ${values})`);
  await assert.rejects(ask("'all', null, null, null"), { code: "22004", message: /`wanted`/ });
  await assert.rejects(ask("'all', now(), null, 1"), { code: "22004", message: /`after_id`/ });
  await assert.rejects(ask("'all', null, 1, 1"), { code: "22004", message: /`after_created_at`/ });
  await assert.rejects(ask("'all', null, null, -1"), { code: "22023", message: /`wanted`/ });
  await assert.rejects(ask("'all', null, null, 10001"), { code: "22023", message: /`wanted`/ });
  assert.equal((await ask("null, null, null, 5")).length, 0);
  assert.equal((await ask("'all', null, null, 0")).length, 0);
  await assert.rejects(
    owner.unsafe("select * from pemba.strict('missing', 'all', null, null, 1)"),
    {
      code: "PB004",
    },
  );
});

test("ids may repeat in tables that inherit from the table of a list, with a warning", async () => {
  const { owner } = scene;
  await owner.unsafe(`
    create table app.above (id bigint primary key);
    create table app.below () inherits (app.above);
    create index on app.below (id);
  `);
  const above = { ...docs, table: "app.above", name: "above", order: "id" };
  assert.match((await printed(scene, above)).warnings.join(), /--key: `id` has no unique index/);
  await owner`drop table app.below`;
  assert.deepEqual((await printed(scene, above)).warnings, []);
});

test("an index that has the order without its last columns is used, with a warning", async () => {
  const { warnings } = await printed(scene, { ...docs, order: "created_at desc, id desc" });
  assert.match(warnings.join(), /--order: no index has all of this order/);
});

test("what cannot be a list is refused by the name of the flag", async () => {
  const { owner } = scene;
  await owner.unsafe(`
    create table app.odd (id text unique, name text not null, page text not null);
    create index on app.odd using brin (page);
    create table app.pemba_row (id bigint primary key);
  `);
  const refused = async (options: Partial<ListOptions>, message: RegExp): Promise<void> => {
    await assert.rejects(printed(scene, { ...docs, order: "id", ...options }), { message });
  };
  await refused({ table: "app.nothing" }, /--table: `app.nothing` does not exist/);
  await refused({ table: "app.open_docs" }, /--table: is a view/);
  await refused({ key: "nothing" }, /--key: the table has no column/);
  await refused({ key: "created_at" }, /--key: the type timestamp with time zone cannot be an id/);
  await refused({ table: "app.odd" }, /--key: the column `id` may be null/);
  await refused({ table: "app.odd", key: "name" }, /--key: no index begins with the column `name`/);
  await refused({ table: "app.odd", key: "page" }, /--key: no index begins with the column `page`/);
  await refused({ table: "a.b.c" }, /--table: `a.b.c` is no name of a table/);
  await refused({ table: "app.pemba_row" }, /--table: `pemba_row` is a name that lists use/);
  await refused({ order: "nothing" }, /--order: the table has no column `nothing`/);
  await refused({ order: "id, created_at" }, /--order: the key `id` decides/);
  await refused({ order: "created_at, created_at" }, /--order: names a column twice/);
  await refused(
    { order: "created_at nulls first" },
    /--order: no index has this order: create index on "app"."docs"/,
  );
  await refused(
    { where: "nothing = 1" },
    /--where: is not a condition on the rows: column "nothing" does not exist/,
  );
  await refused({ where: "false) or (true" }, /--where: a bracket closes that was not opened/);
  await refused({ where: "status = $1" }, /--where: `\$1` has no name/);
  await refused({ where: "status" }, /--where: is not a condition/);
  await refused({ where: "status = $wanted" }, /--where: `\$wanted` is a parameter/);
  await refused({ name: "may" }, /--name: `may` is the name of another function/);
});

test("a condition looks names up in Postgres's own schema, and a column of another type is told", async () => {
  await scene.owner.unsafe(`
    create type app.pair as (one integer, two integer);
    create table app.pairs (id bigint primary key, pair app.pair);
    create function app.sum_of(pair app.pair) returns integer language sql immutable
      as 'select pair.one + pair.two';
  `);
  const pairs = { ...docs, name: "pairs", table: "app.pairs", order: "id" };
  const plain = await printed(scene, { ...pairs, where: "id > $least" });
  assert.deepEqual(plain.warnings, []);
  const { text, warnings } = await printed(scene, { ...pairs, where: "app.sum_of(pair) = $sum" });
  assert.deepEqual(warnings, [
    "--where: `pair` has the type app.pair: write the operators of this type with their schema, such as operator(app.=)",
  ]);
  assert.match(text, /^set search_path to pg_catalog, pg_temp$/m);
  await assert.rejects(
    printed(scene, { ...pairs, where: "sum_of(pair) = $sum" }),
    /--where: is not a condition on the rows: function sum_of\(app\.pair\) does not exist/,
  );
});
