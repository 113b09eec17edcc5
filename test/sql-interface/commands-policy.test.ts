import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { Tuple } from "../../src/base/tuple.ts";
import { allowed, newTenant, schemaText, tenantId } from "../store/engines.ts";
import { type CommandScene, openCommands } from "./commands-scene.ts";

let scene: CommandScene;
let tenant = tenantId("");
const users = ["ada", "bob", "cleo", "dan"];
const numbers = Array.from({ length: 9 }, (_, index) => index + 1);

/** Tables of the application, as SQL spells them and their keys. */
const tables = {
  bigint: { table: "docs.plain", key: "id", type: "bigint" },
  uuid: { table: `docs."By ""Uuid"""`, key: `"Id"`, type: "uuid" },
  text: { table: "docs.texts", key: "id", type: "text" },
  varchar: {
    table: `docs."a"".b; drop table docs.plain; --"`,
    key: `"k""; -- ' \\"`,
    type: "varchar(40)",
  },
} as const;

type KeyKind = keyof typeof tables;
const kinds = Object.keys(tables) as KeyKind[];

function idOf(kind: KeyKind, number: number): string {
  return kind === "uuid" ? `00000000-0000-4000-8000-00000000000${number}` : String(number);
}

/** Some are no ids of any row, and no text of a key. */
const strayIds = ["01", "+3", "-0", "99999999999999999999", "9223372036854775808", "x", "A-b"];

function tupleOf(id: string, relation: string, user: string): Tuple {
  return {
    entity: { type: "doc", id },
    relation,
    subject: { type: "user", id: user, relation: "" },
  };
}

before(async () => {
  scene = await openCommands();
  const { store, owner } = scene;
  tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  const ids = [
    ...numbers.map((number) => idOf("text", number)),
    ...numbers.map((number) => idOf("uuid", number)),
  ];
  await store.data.write(tenant, {
    schemaVersion: undefined,
    tuples: [
      ...ids.filter((_, index) => index % 2 === 0).map((id) => tupleOf(id, "owner", "ada")),
      ...ids.filter((_, index) => index % 3 === 0).map((id) => tupleOf(id, "viewer", "bob")),
      ...[...ids, ...strayIds].map((id) => tupleOf(id, "viewer", "cleo")),
    ],
    attributes: [],
  });
  await owner`create schema docs`;
  for (const kind of kinds) {
    const { table, key, type } = tables[kind];
    await owner.unsafe(`create table ${table} (${key} ${type} primary key, note text)`);
    for (const number of numbers) {
      await owner.unsafe(`insert into ${table} values ($1, 'old')`, [idOf(kind, number)]);
    }
  }
});

after(async () => {
  await scene.close();
});

/** A role that may use the tables, and may ask. */
async function tableRole(t: Parameters<CommandScene["newRole"]>[0]): Promise<postgres.Sql> {
  const { name, sql } = await scene.newRole(t);
  const { owner } = scene;
  await owner`grant usage on schema docs to ${owner(name)}`;
  await owner`grant all on all tables in schema docs to ${owner(name)}`;
  await scene.apply(await scene.printed("grant", "--role", name, "--for", "ask"));
  return sql;
}

async function printPolicy(kind: KeyKind, ...words: readonly string[]): Promise<string> {
  const { table, key } = tables[kind];
  const target = ["--table", table, "--key", key, "--type", "doc", "--permission", "view"];
  return await scene.printed("policy", ...target, "--tenant", tenant, ...words);
}

/** Runs work for a subject in a transaction; "" for a setting that an earlier transaction had. */
async function as<T>(
  sql: postgres.Sql,
  subject: string | undefined,
  work: (inside: postgres.TransactionSql) => Promise<T>,
): Promise<T> {
  const result = await sql.begin(async (inside) => {
    if (subject !== undefined) await inside`select set_config('pemba.subject', ${subject}, true)`;
    return { value: await work(inside) };
  });
  return result.value;
}

async function idsSeen(
  sql: postgres.Sql,
  kind: KeyKind,
  subject: string | undefined,
): Promise<readonly string[]> {
  const { table, key } = tables[kind];
  const rows = await as(
    sql,
    subject,
    async (inside) => await inside.unsafe(`select ${key}::text as id from ${table} order by 1`),
  );
  return rows.map(({ id }) => String(id));
}

for (const kind of kinds) {
  for (const form of ["set", "check"]) {
    test(`a table with a key of type ${kind} shows what checks allow, in the form ${form}`, async (t) => {
      const sql = await tableRole(t);
      const policy = await printPolicy(kind, "--form", form);
      await scene.apply(policy);
      await scene.apply(policy);
      for (const subject of users) {
        const expected: string[] = [];
        for (const number of numbers) {
          const id = idOf(kind, number);
          const asked = { id, permission: "view", subject };
          if (await allowed(scene.store, tenant, asked)) expected.push(id);
        }
        assert.deepEqual(await idsSeen(sql, kind, subject), expected, subject);
      }
      assert.deepEqual(await idsSeen(sql, kind, undefined), []);
      assert.deepEqual(await idsSeen(sql, kind, ""), []);
      const [left] = await scene.owner`select count(*)::int as rows from docs.plain`;
      assert.equal(left?.["rows"], numbers.length);
    });
  }
}

for (const form of ["set", "check"]) {
  test(`rows are written only where a check allows them, in the form ${form}`, async (t) => {
    const sql = await tableRole(t);
    await scene.apply(await printPolicy("text", "--form", form, "--for", "all"));
    const insert = async (id: string, subject: string | undefined) =>
      await as(sql, subject, async (inside) => {
        await inside`insert into docs.texts (id) values (${id})`;
        await inside`delete from docs.texts where id = ${id}`;
      });
    // Of the tuples that no row has.
    await insert("x", "cleo");
    for (const subject of ["ada", undefined]) {
      await assert.rejects(insert("x", subject), { code: "42501" });
    }
    const changed = async (subject: string | undefined) =>
      await as(sql, subject, async (inside) => {
        const rows = await inside`update docs.texts set note = 'new' returning id`;
        return rows.map(({ id }) => String(id)).toSorted();
      });
    assert.deepEqual(await changed("bob"), ["1", "4", "7"]);
    assert.deepEqual(await changed("dan"), []);
    assert.deepEqual(await changed(undefined), []);
    await assert.rejects(
      as(sql, "bob", async (inside) => await inside`update docs.texts set id = 'y' where id = '1'`),
      { code: "42501" },
    );
    const gone = await as(
      sql,
      "dan",
      async (inside) => await inside`delete from docs.texts returning id`,
    );
    assert.equal(gone.length, 0);
  });
}

test("the functions of a policy are called once for a statement, and the set uses the index", async (t) => {
  const sql = await tableRole(t);
  await scene.apply(await printPolicy("bigint", "--form", "set"));
  const plan = await as(sql, "bob", async (inside) => {
    await inside`set local enable_seqscan = off`;
    return await inside`explain (analyze, costs off, timing off) select from docs.plain`;
  });
  const text = plan.map((row) => String(row["QUERY PLAN"])).join("\n");
  assert.match(text, /Index Cond: \(id = ANY/);
  for (const line of text.matchAll(/loops=(\d+)/g)) assert.equal(line[1], "1", text);
  assert.match(text, /InitPlan/);
});

test("a policy says its limits, and names settings of the configuration", async () => {
  const set = await printPolicy("text", "--form", "set");
  assert.match(set, /bounded by what the subject sees/);
  assert.match(set, /more than 200000 ids gets an error/);
  const check = await printPolicy("text", "--form", "check", "--for", "update");
  assert.match(check, /bounded by the rows that are left/);
  assert.match(check, /A row that is written must be allowed as it is afterwards/);
  const claims = await printPolicy("text", "--form", "check", "--database-sql-subject", "jwt:sub");
  assert.match(claims, /from the claim `sub` in the setting `request\.jwt\.claims`/);
  for (const text of [set, check, claims]) {
    assert.match(text, /owner of the table, superusers, and roles with `bypassrls`/);
    assert.match(text, /force row level security/);
    assert.match(text, /with the rights of its owner, so make views of it with `security_invoker`/);
    assert.doesNotMatch(text, /inherit from it/);
  }
});

test("a policy of a table that others inherit from says that it does not bind them", async () => {
  const { owner } = scene;
  await owner`create table docs.above (id text primary key)`;
  await owner`create table docs.below () inherits (docs.above)`;
  const words = ["--table", "docs.above", "--key", "id", "--type", "doc", "--permission", "view"];
  const text = await scene.printed("policy", ...words, "--form", "set", "--tenant", tenant);
  assert.match(text, /tables that inherit from it: a query of one of these itself is bound/);
});

test("a policy is printed with a warning where its question cannot be asked", async () => {
  const policy = async (...words: readonly string[]) =>
    await scene.pemba("policy", "--table", "docs.texts", "--key", "id", "--form", "set", ...words);
  const misspelled = await policy("--type", "doc", "--permission", "veiw", "--tenant", tenant);
  assert.equal(misspelled.status, 0);
  assert.match(
    misspelled.stderr,
    /^pemba: warning: `doc\.veiw@user` cannot be asked in SQL of the tenant/,
  );
  const nowhere = await policy("--type", "doc", "--permission", "view", "--tenant", "it's");
  assert.match(nowhere.stderr, /^pemba: warning: the tenant `it's` does not exist\n$/);
  assert.match(nowhere.stdout, /visible_ids\('it''s', 'doc', 'view', 'user', /);
});

test("a list is printed with a warning where no tenant can be asked its question, and a wrong name is told", async () => {
  const list = async (...words: readonly string[]) =>
    await scene.pemba("list", "--table", "docs.texts", "--key", "id", "--order", "id", ...words);
  const named = ["--name", "texts"];
  const known = await list("--type", "doc", "--permission", "view", ...named);
  assert.deepEqual([known.status, known.stderr], [0, ""]);
  const misspelled = await list("--type", "dok", "--permission", "veiw", ...named);
  assert.equal(misspelled.status, 0);
  assert.equal(
    misspelled.stderr,
    "pemba: warning: `dok.veiw@user` cannot be asked in SQL of any tenant: check the names, then run `pemba sql sync`\n",
  );
  const unnamed = await list("--type", "doc", "--permission", "view", "--name", "bad name");
  assert.deepEqual([unnamed.status, unnamed.stdout], [1, ""]);
  assert.match(unnamed.stderr, /^pemba: --name: `bad name` is no name in SQL, expected letters, /);
});

test("a mistake in the flags of a policy is one line that names the flag", async () => {
  const { owner } = scene;
  await owner`create view docs.seen as select id from docs.texts`;
  await owner`create table docs.odd (id numeric)`;
  const words = {
    table: "docs.texts",
    key: "id",
    type: "doc",
    permission: "view",
    form: "set",
    tenant,
  };
  for (const [changed, expected] of [
    [{ table: "docs.none" }, '--table: `"docs"."none"` does not exist'],
    [
      { table: "docs.texts; x" },
      "--table: `docs.texts; x` is no name of a table, such as app.documents",
    ],
    [
      { table: "docs.seen" },
      '--table: `"docs"."seen"` is not a table, and only tables have row security',
    ],
    [{ key: "Note2" }, '--key: the table `"docs"."texts"` has no column `note2`'],
    [{ key: "a b" }, "--key: `a b` is no name of a column"],
    [
      { table: "docs.odd" },
      "--key: the column `id` has the type numeric, expected text, character varying, uuid, smallint, integer, bigint",
    ],
    [{ type: "doc'" }, "--type: `doc'` is no name of a schema: 1 to 64 letters and underscores"],
    [{ form: "row" }, "--form: `row` is not allowed, expected set, check"],
    [
      { for: "truncate" },
      "--for: `truncate` is not allowed, expected select, insert, update, delete, all",
    ],
    [{ name: "x".repeat(64) }, `--name: \`${"x".repeat(64)}\` has 64 bytes, expected at most 63`],
    [
      { name: "1a" },
      "--name: `1a` is no name in SQL, expected letters, digits and `_` with no digit first, or double quotes around it",
    ],
    [{ tenant: "" }, "--tenant: is empty"],
  ] as const) {
    const flags = Object.entries({ ...words, ...changed });
    const run = await scene.pemba(
      "policy",
      ...flags.flatMap(([flag, value]) => [`--${flag}`, value]),
    );
    assert.deepEqual(run, { status: 1, stdout: "", stderr: `pemba: ${expected}\n` });
  }
});

test("a key whose collation takes different ids for the same is refused", async (t) => {
  const { owner } = scene;
  const [icu] = await owner`select from pg_collation where collprovider = 'i' limit 1`;
  if (icu === undefined) {
    t.skip("the server has no ICU");
    return;
  }
  await owner`create collation docs.alike (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`;
  await owner`create table docs.loose (id text collate docs.alike)`;
  const words = ["--table", "docs.loose", "--key", "id", "--type", "doc", "--permission", "view"];
  const run = await scene.pemba("policy", ...words, "--form", "set", "--tenant", tenant);
  assert.deepEqual([run.status, run.stdout], [1, ""]);
  assert.match(
    run.stderr,
    /^pemba: --key: the column `id` has a collation under which different ids are equal\n$/,
  );
});
