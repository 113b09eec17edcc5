import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import { attribute, newTenant, write } from "../store/engines.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity doc {
    relation viewer @user @group#member
    relation blocked @doc
    attribute limit integer
    permission view = viewer
    permission small = within(limit)
    permission open = viewer not blocked.open
  }
  rule within(limit integer) { limit < int(context.data.amount) }
`;

let scene: InterfaceScene;
let tenant: TenantId;

before(async () => {
  scene = await openInterface({ depth: 2 });
  tenant = await newTenant(scene.store);
  await scene.store.schemas.write(tenant, { text: schema });
  await write(scene.store, tenant, {
    tuples: [
      "doc:1#viewer@group:a#member",
      "group:a#member@group:b#member",
      "group:b#member@group:c#member",
      "group:c#member@user:far",
      "doc:1#viewer@user:near",
    ],
    attributes: [attribute("limit", { type: "integer", data: 5 })],
  });
});

after(async () => {
  await scene.close();
});

async function may(permission: string, subject: string | null, id: string | null = "1") {
  const [row] = await scene.app`
    select pemba.may(${tenant}, 'doc', ${id}, ${permission}, 'user', ${subject}) as may
  `;
  return row?.["may"] as unknown;
}

test("an unknown tenant is PB004, and one without a schema PB001", async () => {
  const ask = async (id: string): Promise<unknown> =>
    await scene.app`select pemba.visible(${id}, 'doc', 'view', 'user', 'near')`;
  await assert.rejects(ask("missing"), {
    code: "PB004",
    message: "the tenant `missing` does not exist",
  });
  const empty = await newTenant(scene.store);
  await assert.rejects(ask(empty), { code: "PB001", detail: "the tenant has no schema" });
});

test("a question that the head does not have is PB001, with what to do", async () => {
  const head = await scene.store.schemas.read(tenant, undefined);
  await assert.rejects(may("edit", "near"), {
    code: "PB001",
    message: `\`doc.edit@user\` cannot be asked in SQL of the tenant \`${tenant}\``,
    detail: `the schema version ${head.version} has no such question, or was not synced`,
    hint: "check the names; then run `pemba sql sync`, or add the question to `database.sql.questions`",
  });
});

test("a plan that is no search is PB002, with the obstacle that explain tells", async () => {
  await assert.rejects(may("open", "near"), {
    code: "PB002",
    message: "`doc.open@user` has no SQL",
    detail: "doc#open: a negation leads back to it",
  });
});

test("a path that is too long is PB003, or a denial where the setting says so", async () => {
  assert.equal(await may("view", "near"), true);
  await assert.rejects(may("view", "far"), {
    code: "PB003",
    message: "there is no answer whether `user:far` may `view` on `doc:1`",
    detail:
      "a path has more than 2 hops, a rule fails, or an attribute is stored with another type than the schema has",
  });
  await scene.app.begin(async (app) => {
    await app`select set_config('pemba.undecided', 'deny', true)`;
    const [row] = await app`
      select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'far') as may,
        array(select pemba.may_of(${tenant}, 'doc', array['1'], 'view', 'user', 'far')) as may_of,
        array(select pemba.visible(${tenant}, 'doc', 'view', 'user', 'far')) as visible,
        array(select pemba.who(${tenant}, 'doc', '1', 'view', 'user')) as who,
        pemba.visible_count(${tenant}, 'doc', 'view', 'user', 'far') as count
    `;
    const who = ["near"];
    assert.deepEqual({ ...row }, { may: false, may_of: [], visible: [], who, count: 0 });
  });
  await assert.rejects(
    scene.app.begin(async (app) => {
      await app`select set_config('pemba.undecided', 'allow', true)`;
      await app`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'far')`;
    }),
    { code: "22023", message: "`pemba.undecided` is `allow`, expected `error` or `deny`" },
  );
});

test("rules read the data of the setting `pemba.context`", async () => {
  const withContext = async (text: string): Promise<unknown> =>
    await scene.app.begin(async (app) => {
      await app`select set_config('pemba.context', ${text}, true)`;
      const [row] = await app`select pemba.may(${tenant}, 'doc', '1', 'small', 'user', 'x') as may`;
      return row?.["may"] as unknown;
    });
  assert.equal(await withContext('{"data": {"amount": 6}}'), true);
  assert.equal(await withContext('{"data": {"amount": 5}}'), false);
  const greatest = '{"data": {"amount": 6, "other": [1.7976931348623157e308, 5e-324, 0, "1e400"]}}';
  assert.equal(await withContext(greatest), true);
  const least = '{"data": {"amount": 6, "other": [1e-400, -2.5e-324]}}';
  assert.equal(await withContext(least), true);
  await assert.rejects(withContext('{"data": {}}'), { code: "PB003" });
  await assert.rejects(withContext(""), { code: "PB003" });
  const [server] = await scene.owner<{ version: number }[]>`
    select current_setting('server_version_num')::integer as version
  `;
  const isOld = (server?.version ?? 0) < 160_000;
  for (const [text, problem, code] of [
    ["{", "it is not JSON", "22P02"],
    [
      '{"data": {"text": "\\u0000"}}',
      "it has a character or a number that is out of range",
      "22P05",
    ],
    [
      '{"data": {"amount": 1e200000}}',
      "it has a character or a number that is out of range",
      "22003",
    ],
    [
      '{"data": {"amount": 1e-20000}}',
      "it has a character or a number that is out of range",
      "22003",
    ],
  ] as const) {
    const expected = { code: "22023", message: `\`pemba.context\`: ${problem}` };
    await assert.rejects(withContext(text), isOld ? { code } : expected);
  }
  for (const [text, problem] of [
    ["[1]", "it is not a JSON object"],
    ['{"tuples": []}', "it has a key other than `data`"],
    ['{"data": 1}', "its `data` is not a JSON object"],
    ['{"data": {"amount": 1e400}}', "it has a number that is out of the range of a double"],
    [
      '{"data": {"other": [{"a": -1e309}]}}',
      "it has a number that is out of the range of a double",
    ],
  ] as const) {
    await assert.rejects(withContext(text), {
      code: "22023",
      message: `\`pemba.context\`: ${problem}`,
    });
  }
});

test("rules are asked in a parallel query", async (t) => {
  const { owner, app, role } = scene;
  await owner`create table parallel_docs as select '1' as id from generate_series(1, 100)`;
  await owner`grant select on parallel_docs to ${owner(role)}`;
  t.after(async () => await owner`drop table parallel_docs`);
  await app.begin(async (inside) => {
    for (const setting of [
      "parallel_setup_cost = 0",
      "parallel_tuple_cost = 0",
      "min_parallel_table_scan_size = 0",
      "max_parallel_workers_per_gather = 2",
    ]) {
      await inside.unsafe(`set local ${setting}`);
    }
    await inside`select set_config('pemba.context', '{"data": {"amount": 6}}', true)`;
    const seen = (hint: postgres.Fragment): postgres.PendingQuery<postgres.Row[]> => inside`
      ${hint} select pemba.may(${tenant}, 'doc', id, 'small', 'user', 'x') as may from parallel_docs
    `;
    const plan = await seen(inside`explain`);
    assert.match(JSON.stringify(plan), /Gather/);
    const rows = await seen(inside``);
    assert.equal(rows.filter(({ may: answer }) => answer === true).length, 100);
    await inside`select set_config('pemba.context', '[]', true)`;
    await assert.rejects(
      inside.savepoint(async (nested) => {
        await nested`
          select pemba.may(${tenant}, 'doc', id, 'small', 'user', 'x') from parallel_docs
        `;
      }),
      { code: "22023" },
    );
  });
});

test("a null subject or entity sees nothing, and other nulls are named", async () => {
  assert.equal(await may("view", null), false);
  assert.equal(await may("view", "near", null), false);
  const { app } = scene;
  const [row] = await app`
    select array(select pemba.may_of(${tenant}, 'doc', null, 'view', 'user', 'near')) as no_ids,
      array(select pemba.may_of(${tenant}, 'doc', array['1'], 'view', 'user', null)) as may_of,
      array(select pemba.visible(${tenant}, 'doc', 'view', 'user', null)) as visible,
      pemba.visible_ids(${tenant}, 'doc', 'view', 'user', null) as ids,
      pemba.visible_count(${tenant}, 'doc', 'view', 'user', null) as count,
      array(select pemba.who(${tenant}, 'doc', null, 'view', 'user')) as who
  `;
  assert.deepEqual({ ...row }, { no_ids: [], may_of: [], visible: [], ids: [], count: 0, who: [] });
  const names = ["tenant", "entity_type", "permission", "subject_type", "subject_relation"];
  for (const name of names) {
    const value = (one: string, text: string): string | null => (one === name ? null : text);
    const asked = app`
      select pemba.may(
        ${value("tenant", tenant)}, ${value("entity_type", "doc")}, '1',
        ${value("permission", "view")}, ${value("subject_type", "user")}, 'near',
        ${value("subject_relation", "")}
      )
    `;
    await assert.rejects(asked.execute(), {
      code: "22004",
      message: `the argument \`${name}\` is null`,
    });
  }
  const count = (most: number | null): Promise<unknown> =>
    app`select pemba.visible_count(${tenant}, 'doc', 'view', 'user', 'near', ${most})`.execute();
  await assert.rejects(count(null), { code: "22004" });
  await assert.rejects(count(-1), { code: "22023" });
  await assert.rejects(count(2_147_483_647), { code: "22023" });
});
