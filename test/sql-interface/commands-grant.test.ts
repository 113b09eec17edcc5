import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { newTenant, schemaText, write } from "../store/engines.ts";
import { type CommandScene, openCommands } from "./commands-scene.ts";

let scene: CommandScene;
let tenant: string;

before(async () => {
  scene = await openCommands({ bound: true });
  const id = await newTenant(scene.store);
  await scene.store.schemas.write(id, { text: schemaText });
  await write(scene.store, id, { tuples: ["doc:1#owner@user:ada"] });
  tenant = id;
});

after(async () => {
  await scene.close();
});

test("each word after sql shows its flags and an example", async () => {
  for (const word of [
    "sync",
    "generate",
    "status",
    "grant",
    "list",
    "policy",
    "map",
    "reconcile",
  ]) {
    const byFlag = await scene.run(["sql", word, "--help"]);
    assert.deepEqual([byFlag.status, byFlag.stderr], [0, ""]);
    assert.match(byFlag.stdout, new RegExp(`^usage: pemba sql ${word} `));
    assert.match(byFlag.stdout, new RegExp(`^ {2}pemba sql ${word} .`, "m"));
    assert.deepEqual(await scene.run(["help", "sql", word]), byFlag);
  }
  const all = await scene.run(["sql", "--help"]);
  assert.match(
    all.stdout,
    /^usage: pemba sql enable\|disable\|sync\|generate\|status\|grant\|list\|policy\|map\|reconcile /,
  );
});

test("a role can ask with the grants of ask, reads no table, and could not ask before", async (t) => {
  const { name, sql } = await scene.newRole(t);
  const ask = async () =>
    await sql`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'ada') as may`;
  await assert.rejects(ask, { code: "42501" });
  const grants = await scene.printed("grant", "--role", name, "--for", "ask");
  await scene.apply(grants);
  await scene.apply(grants);
  const [row] = await ask();
  assert.equal(row?.["may"], true);
  const all = await sql`
    select array(select pemba.visible(${tenant}, 'doc', 'view', 'user', 'ada')) as visible,
      array(select pemba.may_of(${tenant}, 'doc', array['1', '2'], 'view', 'user', 'ada')) as may_of,
      pemba.visible_ids(${tenant}, 'doc', 'view', 'user', 'ada') as ids,
      pemba.visible_count(${tenant}, 'doc', 'view', 'user', 'ada') as count,
      array(select pemba.who(${tenant}, 'doc', '1', 'view', 'user')) as who,
      pemba.subject() as subject
  `;
  assert.deepEqual(
    [...all],
    [{ visible: ["1"], may_of: ["1"], ids: ["1"], count: 1, who: ["ada"], subject: null }],
  );
  for (const table of ["relationships", "tenants", "pemba_plans.questions", "pemba_plans.plans"]) {
    await assert.rejects(sql.unsafe(`select from ${table}`).execute(), { code: "42501" });
  }
  await assert.rejects(sql`select pemba.my_may('doc', '1', 'view')`.execute(), { code: "42501" });
  await assert.rejects(
    sql`create function pemba.may() returns int language sql as 'select 1'`.execute(),
    {
      code: "42501",
    },
  );
});

test("a role with the bound functions asks for the tenant and subject of settings alone", async (t) => {
  const { name, sql } = await scene.newRole(t);
  const env = { SERVICE_DATABASE_URI: scene.url, SERVICE_DATABASE_SQL_BOUND: "true" };
  const { status, stdout, stderr } = await scene.run(
    ["sql", "grant", "--role", name, "--for", "ask", "--bound"],
    env,
  );
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(
    stdout,
    /the setting\n-- `pemba\.tenant`, and the subject from the setting `pemba\.subject`/,
  );
  await scene.apply(stdout);
  await sql.begin(async (inside) => {
    await inside`select set_config('pemba.tenant', ${tenant}, true)`;
    await inside`select set_config('pemba.subject', 'ada', true)`;
    const [row] = await inside`
      select pemba.my_may('doc', '1', 'view') as may,
        array(select pemba.my_may_of('doc', array['1', '2'], 'view')) as may_of,
        array(select pemba.my_visible('doc', 'view')) as visible,
        pemba.my_visible_count('doc', 'view') as count
    `;
    assert.deepEqual({ ...row }, { may: true, may_of: ["1"], visible: ["1"], count: 1 });
  });
  const ask = sql`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'ada')`;
  await assert.rejects(ask.execute(), { code: "42501" });
});

test("a role with the grants of list makes a list of its own table, which others may then call", async (t) => {
  const { owner } = scene;
  const maker = await scene.newRole(t);
  const reader = await scene.newRole(t);
  await owner`create schema ${owner("Lists")} authorization ${owner(maker.name)}`;
  await maker.sql`create table "Lists".docs (id text primary key)`;
  await maker.sql`insert into "Lists".docs values ('1'), ('2')`;
  const target = [
    "--table",
    '"Lists".docs',
    "--key",
    "id",
    "--type",
    "doc",
    "--permission",
    "view",
  ];
  const list = await scene.printed("list", ...target, "--order", "id", "--name", "own_docs");
  await assert.rejects(
    maker.sql.begin(async (inside) => await inside.unsafe(list)),
    {
      code: "42501",
    },
  );
  await scene.apply(await scene.printed("grant", "--role", maker.name, "--for", "list"));
  await maker.sql.begin(async (inside) => await inside.unsafe(list));
  const page = async () =>
    await reader.sql`select id from pemba.own_docs(${tenant}, 'ada', null, 10)`;
  await assert.rejects(page, { code: "42501" });
  await owner`grant usage on schema pemba to ${owner(reader.name)}`;
  await maker.sql`grant execute on function pemba.own_docs to ${maker.sql(reader.name)}`;
  assert.deepEqual([...(await page())], [{ id: "1" }]);
});

test("a role with the grants of list cannot put a function in the place of one that the bound ones call", async (t) => {
  const { name, sql } = await scene.newRole(t);
  await scene.apply(await scene.printed("grant", "--role", name, "--for", "list"));
  await scene.owner`grant execute on function pemba.my_may, pemba.my_visible, pemba.my_may_of to ${scene.owner(name)}`;
  const texts = (count: number) => Array.from({ length: count }, () => "text").join(", ");
  const body = "language plpgsql as $$ begin raise 'runs as %', current_user; end $$";
  await sql.begin(async (inside) => {
    await inside.unsafe(`create function pemba.may(${texts(6)}) returns boolean ${body}`);
    await inside.unsafe(`create function pemba.visible(${texts(5)}) returns setof text ${body}`);
    await inside.unsafe(
      `create function pemba.may_of(text, text, text[], ${texts(3)}) returns setof text ${body}`,
    );
    await inside`select set_config('pemba.tenant', ${tenant}, true)`;
    await inside`select set_config('pemba.subject', 'ada', true)`;
    const [row] = await inside`
      select pemba.my_may('doc', '1', 'view') as may,
        array(select pemba.my_visible('doc', 'view')) as visible,
        array(select pemba.my_may_of('doc', array['1', '2'], 'view')) as may_of
    `;
    assert.deepEqual({ ...row }, { may: true, visible: ["1"], may_of: ["1"] });
  });
});

test("a role can write with the grants of write, reads no table, and could not write before", async (t) => {
  const { name, sql } = await scene.newRole(t);
  const writing = async () =>
    await sql`select pemba.write_tuple(${tenant}, 'doc', '7', 'owner', 'user', 'ada') as made`;
  await assert.rejects(writing, { code: "42501" });
  await scene.apply(await scene.printed("grant", "--role", name, "--for", "write"));
  const [row] = await writing();
  assert.equal(row?.["made"], true);
  const all = await sql`
    select pemba.write_tuples(${tenant}, array['doc:8#owner@user:ada']) as written,
      pemba.delete_tuples(${tenant}, array['doc:8#owner@user:ada']) as deleted,
      pemba.delete_entity(${tenant}, 'doc', '7') as ended,
      pemba.write_attributes(${tenant}, '[]') as set,
      pemba.delete_attributes(${tenant}, '{}') as unset,
      pemba.token(${tenant}) <> '' as token
  `;
  assert.deepEqual([...all], [{ written: 1, deleted: 1, ended: 1, set: 0, unset: 0, token: true }]);
  await sql`select pemba.announce()`;
  for (const table of ["relationships", "changes", "installation", "pemba_plans.names"]) {
    await assert.rejects(sql.unsafe(`select from ${table}`).execute(), { code: "42501" });
  }
  await assert.rejects(
    sql`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'ada')`.execute(),
    { code: "42501" },
  );
});

for (const [words, expected] of [
  [[], "pemba: --role: is missing\npemba: --for: is missing\n"],
  [
    ["--role", "a", "--for", "all"],
    "pemba: --for: `all` is not allowed, expected ask, write, list, map\n",
  ],
  [["--role", "", "--for", "ask"], "pemba: --role: is empty\n"],
  [
    ["--role", "public", "--for", "ask"],
    "pemba: --role: `public` stands for every role, expected the name of one\n",
  ],
  [
    ["--role", "é".repeat(32), "--for", "ask"],
    "pemba: --role: expected a name of at most 63 bytes\n",
  ],
  [["--role", "a", "--for", "list", "--bound"], "pemba: --bound: goes only with `--for ask`\n"],
  [
    ["--role", "a", "--for", "ask", "--bound"],
    "pemba: --bound: there are no such functions unless `database.sql.bound` is true\n",
  ],
  [["--role", "a", "--for", "ask", "b"], "pemba: sql grant: `b` is not understood\n"],
] as const) {
  test(`grant ${words.join(" ")} is refused and names the flag`, async () => {
    assert.deepEqual(await scene.run(["sql", "grant", ...words]), {
      status: 1,
      stdout: "",
      stderr: expected,
    });
  });
}
