/** A role that may ask, and tries to get at more than that. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { newTenant, schemaText, write } from "../store/engines.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

let scene: InterfaceScene;
let tenant: TenantId;

before(async () => {
  scene = await openInterface({ bound: true });
  tenant = await newTenant(scene.store);
  await scene.store.schemas.write(tenant, { text: schemaText });
  await write(scene.store, tenant, { tuples: ["doc:1#owner@user:a", "doc:2#owner@user:b"] });
});

after(async () => {
  await scene.close();
});

test("it reads no table and calls no function but those that were granted", async () => {
  const { app } = scene;
  const tried = [
    "select from relationships",
    "select from tenants",
    "select from pemba_plans.questions",
    "insert into pemba_plans.questions default values",
    "select pemba_plans.context_data()",
    "select pemba_plans.locate('may', 't1', '', '', '', '')",
    "select pemba_plans.make_functions('[]')",
    `select pemba_plans.write_schema('${tenant}', 'z', '', null, '', '[]', '{}', '[]')`,
    "select pemba_plans.remove_functions(now(), 1)",
    `select pemba_plans.begin_write('${tenant}')`,
    "select pemba_plans.token_code('secret', 'body')",
    "select pemba_plans.put_names(1, '', '[]')",
    "select create_tuples(1, 0, '{}', '{}', '{}', '{}', '{}', '{}')",
    "insert into relationships values (1, 'doc', '1', 'owner', 'user', 'a', '', '1')",
    "create function pemba.evil() returns int language sql as 'select 1'",
    "create function pemba_plans.evil() returns int language sql as 'select 1'",
    "alter function pemba.may(text, text, text, text, text, text, text) security invoker",
  ];
  for (const text of tried) await assert.rejects(app.unsafe(text), { code: "42501" }, text);
  const [plan] = await scene.owner<{ signature: string }[]>`
    select signature from pemba_plans.plans where kind = 'may' limit 1
  `;
  const call = String(plan?.signature).replace(/\(.*/, "(1, 'x', 'y')");
  await assert.rejects(app.unsafe(`select ${call}`), { code: "42501" });
});

test("another role may call nothing", async (t) => {
  const { owner } = scene;
  const stranger = `${scene.role}_stranger`;
  await owner`create role ${owner(stranger)}`;
  t.after(async () => {
    await owner`drop role ${owner(stranger)}`;
  });
  const rows = await owner<{ callable: string }[]>`
    select p.oid::regprocedure::text as callable
    from pg_proc as p
    join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname in ('pemba', 'pemba_plans')
      and has_function_privilege(${stranger}, p.oid, 'execute')
  `;
  assert.deepEqual([...rows], []);
});

test("every function has a fixed search path that ends with temporary objects", async () => {
  const rows = await scene.owner<{ name: string }[]>`
    select p.oid::regprocedure::text as name
    from pg_proc as p
    join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname in ('pemba', 'pemba_plans')
      and not exists (
        select from unnest(p.proconfig) as c(setting)
        where c.setting = 'search_path=pg_catalog, pg_temp'
      )
      and (
        p.prosecdef
        or n.nspname = 'pemba'
        -- Functions with a fixed path, or the service, call them.
        or p.proname !~ '^(write_schema|sync_version|begin_write)$'
      )
  `;
  assert.deepEqual([...rows], []);
});

// A plan that has no other way than one that is off has a price above any limit of the compiler.
test("a function that plans without sequential scans is never compiled", async () => {
  const rows = await scene.owner<{ name: string }[]>`
    select p.oid::regprocedure::text as name
    from pg_proc as p
    join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname in ('pemba', 'pemba_plans')
      and 'enable_seqscan=off' = any(p.proconfig)
      and not 'jit=off' = any(p.proconfig)
  `;
  assert.deepEqual([...rows], []);
});

test("names, operators and tables of its own change no answer", async () => {
  const { app, owner } = scene;
  const schema = `${scene.role}_own`;
  await owner`create schema ${owner(schema)} authorization ${owner(scene.role)}`;
  await owner`grant temporary on database ${owner(new URL(scene.url).pathname.slice(1))} to ${owner(scene.role)}`;
  const rows = await app.begin(async (inside) => {
    await inside.unsafe(`
      set local search_path = ${schema}, pg_temp, pg_catalog, public;
      create function ${schema}.always(text, text) returns boolean language sql as 'select true';
      create operator ${schema}.= (leftarg = text, rightarg = text, function = ${schema}.always);
      create function ${schema}.current_setting(text, boolean) returns text
        language sql as $$ select 'b' $$;
      create function ${schema}.unnest(text[]) returns setof text
        language sql as $$ values ('2') $$;
      create temporary table tenants as select 1::bigint as number, 'x' as id;
      create temporary table relationships (tenant bigint);
      create domain pg_temp.text as pg_catalog.text check (false);
    `);
    await inside`select set_config('pemba.subject', 'a', true), set_config('pemba.tenant', ${tenant}, true)`;
    return await inside`
      select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'a') as own,
        pemba.may(${tenant}, 'doc', '2', 'view', 'user', 'a') as other,
        array(select pemba.may_of(${tenant}, 'doc', array['1', '2'], 'view', 'user', 'a')) as may_of,
        array(select pemba.visible(${tenant}, 'doc', 'view', 'user', 'a')) as visible,
        pemba.subject() as subject,
        array(select pemba.my_visible('doc', 'view')) as mine
    `;
  });
  assert.deepEqual(
    { ...rows[0] },
    { own: true, other: false, may_of: ["1"], visible: ["1"], subject: "a", mine: ["1"] },
  );
});

test("ids and names with quotes are values and nothing else", async () => {
  const { app } = scene;
  for (const text of ["'; drop table tenants; --", '"', "\\", "%s", "$1", "a\nb", "ß"]) {
    const [row] = await app`
      select pemba.may(${tenant}, 'doc', ${text}, 'view', 'user', ${text}) as may,
        array(select pemba.visible(${tenant}, 'doc', 'view', 'user', ${text})) as visible,
        array(select pemba.may_of(${tenant}, 'doc', array[${text}], 'view', 'user', 'a')) as some
    `;
    assert.deepEqual({ ...row }, { may: false, visible: [], some: [] });
    for (const [type, permission] of [
      [text, "view"],
      ["doc", text],
    ] as const) {
      const asked = app`select pemba.may(${tenant}, ${type}, '1', ${permission}, 'user', 'a')`;
      await assert.rejects(asked.execute(), { code: "PB001" });
    }
  }
});

test("settings that change within a transaction change no answer", async () => {
  await scene.app.begin(async (inside) => {
    const ask = async (): Promise<unknown> => {
      const [row] = await inside`
        select array(select pemba.visible(${tenant}, 'doc', 'view', 'user', 'a')) as visible
      `;
      return row?.["visible"];
    };
    assert.deepEqual(await ask(), ["1"]);
    for (const setting of [
      "array_nulls = off",
      "transform_null_equals = on",
      "standard_conforming_strings = off",
      "row_security = off",
      "enable_indexscan = off",
      "plan_cache_mode = force_custom_plan",
      "datestyle = 'SQL, DMY'",
      "statement_timeout = '30s'",
      "plpgsql.extra_errors = 'all'",
      "search_path = ''",
    ]) {
      await inside.unsafe(`set local ${setting}`);
      assert.deepEqual(await ask(), ["1"], setting);
    }
  });
});
