/** Names, ids, sizes and histories at the edge of what there is. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { TenantId, Tuple } from "../../src/base/tuple.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { functionSettings } from "../../src/store/postgres/sql-interface/function-settings.ts";
import {
  functionsTexts,
  planQuestions,
} from "../../src/store/postgres/sql-interface/planned-questions.ts";
import { newTenant, openStore, schemaText, write } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { type InterfaceScene, interfaceOptions, openInterface } from "./interface-scene.ts";

let scene: InterfaceScene;

before(async () => {
  scene = await openInterface();
});

after(async () => {
  await scene.close();
});

async function visible(tenant: TenantId, permission = "view"): Promise<readonly unknown[]> {
  const rows = await scene.app`
    select v.id from pemba.visible(${tenant}, 'doc', ${permission}, 'user', 'a') as v(id)
    order by v.id collate "C"
  `;
  return rows.map(({ id }): unknown => id);
}

test("a tenant that is made anew with the id of a deleted one has nothing of it", async () => {
  const { store } = scene;
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  await write(store, tenant, { tuples: ["doc:old#owner@user:a"] });
  assert.deepEqual(await visible(tenant), ["old"]);
  await store.tenants.delete(tenant);
  await assert.rejects(visible(tenant), { code: "PB004" });
  await store.tenants.create({ id: tenant, name: "" });
  await assert.rejects(visible(tenant), { code: "PB001", detail: "the tenant has no schema" });
  await store.schemas.write(tenant, { text: schemaText });
  assert.deepEqual(await visible(tenant), []);
  await write(store, tenant, { tuples: ["doc:new#owner@user:a"] });
  assert.deepEqual(await visible(tenant), ["new"]);
});

test("functions that are too long for one statement are sent in several", async () => {
  const { store, app } = scene;
  const letters = Array.from("abcdefghijklmnopqrst");
  const relations = letters.map((letter) => `relation r_${letter} @user @group#member`);
  const permissions = letters.map((letter) => {
    const others = letters.map((each) => `(r_${each} not r_${letter})`);
    return `permission p_${letter} = ${others.join(" or ")} or parent.p_${letter}`;
  });
  const text = `
    entity user {}
    entity group { relation member @user @group#member }
    entity doc { relation parent @doc ${[...relations, ...permissions].join("\n")} }
  `;
  const schemas = new CompiledSchemas(() => assert.fail("no schema is read"), {
    maxBytes: 100_000_000,
  });
  const frame = { plans: "p", tables: "t", depth: 100, settings: functionSettings };
  const planning = { planner: schemas.planner, patterns: [], frame };
  const { functions } = await planQuestions(planning, await schemas.compileText(text), undefined);
  const lists = await functionsTexts(functions, [...functions.keys()], undefined);
  assert.ok(lists.length > 1);
  for (const list of lists) assert.ok(list.length < 800_000, `${list.length} characters`);
  const made = lists.flatMap((list) => [...list.matchAll(/"hash":"(\w+)"/g)].map(([, one]) => one));
  assert.equal(made.length, functions.size);
  assert.deepEqual(new Set(made), new Set(functions.keys()));

  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text });
  await write(store, tenant, { tuples: ["doc:1#r_b@user:a"] });
  const rows = await app.unsafe(
    letters
      .map(
        (letter) => `select pemba.may('${tenant}', 'doc', '1', 'p_${letter}', 'user', 'a') as may`,
      )
      .join(" union all "),
  );
  assert.deepEqual(
    rows.map((row) => row["may"] === true),
    letters.map((letter) => letter !== "b"),
  );
});

test("permissions and types may have the names of words of SQL and of its functions", async () => {
  const { store, app } = scene;
  const words = ["select", "end", "null", "user", "table", "id", "v", "c", "tenant", "entity_type"];
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, {
    text: `
      entity select {}
      entity table {
        relation from @select @table#from
        relation where @table
        ${words.map((word) => `permission p_${word} = from or where.p_${word}`).join("\n")}
        permission all = from
        permission order = from or where.order
        permission function = order and all
      }
    `,
  });
  const subject = { type: "select", id: "'", relation: "" };
  await store.data.write(tenant, {
    schemaVersion: undefined,
    tuples: [
      { entity: { type: "table", id: "a" }, relation: "from", subject },
      {
        entity: { type: "table", id: "b" },
        relation: "where",
        subject: { type: "table", id: "a", relation: "" },
      },
    ],
    attributes: [],
  });
  for (const [permission, expected] of [
    ["from", undefined],
    ["all", ["a"]],
    ["order", ["a", "b"]],
    ["function", ["a"]],
    ["p_select", ["a", "b"]],
    ["p_v", ["a", "b"]],
  ] as const) {
    const asked = app`
      select v.id from pemba.visible(${tenant}, 'table', ${permission}, 'select', '''') as v(id)
      order by v.id
    `;
    if (expected === undefined) await assert.rejects(asked.execute(), { code: "PB001" });
    else
      assert.deepEqual(
        (await asked).map(({ id }): unknown => id),
        expected,
      );
  }
});

test("ids of the greatest length and of any characters are found", async () => {
  const { store, app } = scene;
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  const ids = [
    "x".repeat(1_000),
    "😀".repeat(250),
    "%I %s $1 :'a' :\"b\"",
    "a\\b'c\"d",
    "{a,b}",
    "NULL",
    "null",
    "\u202e\u0301e",
    " ",
    "$plan$",
  ];
  const tuples = ids.flatMap((id): readonly Tuple[] => [
    {
      entity: { type: "doc", id },
      relation: "viewer",
      subject: { type: "group", id, relation: "member" },
    },
    {
      entity: { type: "group", id },
      relation: "member",
      subject: { type: "user", id, relation: "" },
    },
  ]);
  await store.data.write(tenant, { schemaVersion: undefined, tuples, attributes: [] });
  for (const id of ids) {
    const [row] = await app`
      select pemba.may(${tenant}, 'doc', ${id}, 'view', 'user', ${id}) as may,
        array(select pemba.may_of(${tenant}, 'doc', ${ids}, 'view', 'user', ${id})) as may_of,
        array(select pemba.visible(${tenant}, 'doc', 'view', 'user', ${id})) as visible,
        array(select pemba.who(${tenant}, 'doc', ${id}, 'view', 'user')) as who
    `;
    const one = [id];
    assert.deepEqual({ ...row }, { may: true, may_of: one, visible: one, who: one });
  }
});

test("of 10,000 ids those are found that a subject sees", async () => {
  const { store, app } = scene;
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  const ids = Array.from({ length: 10_000 }, (_, number) => `d${number}`);
  await write(store, tenant, {
    tuples: ids.filter((_, number) => number % 100 === 0).map((id) => `doc:${id}#owner@user:a`),
  });
  const [row] = await app`
    select count(*)::int as seen
    from pemba.may_of(${tenant}, 'doc', ${[...ids, ...ids]}, 'view', 'user', 'a')
  `;
  assert.equal(row?.["seen"], 100);
});

test("several instances that start at once install the objects once", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  const sql = connect(url, 1);
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await drop();
  });
  const first = await openStore(url);
  const tenants: TenantId[] = [];
  for (let number = 0; number < 30; number += 1) {
    const tenant = await newTenant(first);
    await first.schemas.write(tenant, { text: schemaText });
    tenants.push(tenant);
  }
  await first.close();
  const stores = await Promise.all([1, 2, 3].map(() => openStore(url, { sql: interfaceOptions })));
  for (const store of stores) await store.close();
  const [row] = await sql`
    select count(*)::int as known,
      (select count(*)::int from pemba_plans.installation) as installed
    from pemba_plans.versions
  `;
  assert.deepEqual({ ...row }, { known: tenants.length, installed: 1 });
  for (const tenant of tenants) {
    const [asked] = await sql`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'a') as may`;
    assert.equal(asked?.["may"], false);
  }
});

test("instances with other options that start at once leave objects of one of them", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  const sql = connect(url, 1);
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await drop();
  });
  const depths = [10, 20, 30];
  const opened = await Promise.allSettled(
    depths.map((depth) => openStore(url, { sql: { ...interfaceOptions, depth } })),
  );
  for (const one of opened) {
    if (one.status === "fulfilled") await one.value.close();
    else assert.match(String(one.reason), /with other options/);
  }
  const [row] = await sql<{ settings: string; text: string }[]>`
    select settings, pg_get_functiondef(
      'pemba_plans.undecided(text, text, text, text, text, text)'::regprocedure
    ) as text
    from pemba_plans.installation
  `;
  const { depth } = JSON.parse(row?.settings ?? "") as { readonly depth: number };
  assert.ok(depths.includes(depth));
  assert.match(row?.text ?? "", new RegExp(`more than %s hops[^;]*'${depth}'`));
});
