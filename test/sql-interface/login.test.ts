/** A role that logs in, owns a schema and may ask: it tries to get at more, or to mislead Pemba. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import { newTenant, schemaText, write } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

const login = `login_${randomUUID().slice(0, 8)}`;

let scene: InterfaceScene;
let tenant: TenantId;
let sql: postgres.Sql;

before(async () => {
  scene = await openInterface();
  tenant = await newTenant(scene.store);
  await scene.store.schemas.write(tenant, { text: schemaText });
  await write(scene.store, tenant, { tuples: ["doc:1#owner@user:a", "doc:2#owner@user:b"] });
  const { owner } = scene;
  const database = new URL(scene.url).pathname.slice(1);
  await owner.unsafe(`
    create role ${login} login password 'secret' in role ${scene.role};
    grant temporary on database "${database}" to ${login};
    create schema ${login} authorization ${login};
  `);
  const url = new URL(scene.url);
  url.username = login;
  url.password = "secret";
  url.searchParams.set("plpgsql.extra_errors", "all");
  sql = connect(url.href, 2);
  await sql.unsafe(`
    create table ${login}.docs as
      select id, 'text ' || id as text from unnest(array['1', '2', '3']) as d(id);
    create table ${login}.seen (id text);
    -- It costs nothing, so a planner that may would call it first.
    create function ${login}.leak(id text) returns boolean language plpgsql volatile cost 0.0001
      as $$ begin insert into ${login}.seen values (id); return true; end $$;
  `);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await scene.owner.unsafe(`drop owned by ${login} cascade; drop role ${login}`);
  await scene.close();
});

async function visible(inside: postgres.ISql): Promise<readonly unknown[]> {
  const rows = await inside`
    select v.id from pemba.visible(${tenant}, 'doc', 'view', 'user', 'a') as v(id) order by v.id
  `;
  return rows.map(({ id }): unknown => id);
}

test("it cannot become the owner, or lend itself rights", async () => {
  for (const text of [
    "set role postgres",
    "set session authorization postgres",
    "set local session authorization postgres",
    `grant postgres to ${login}`,
    `grant usage on schema pemba_plans to ${login}`,
    `alter default privileges for role postgres grant execute on functions to ${login}`,
    "alter schema pemba_plans rename to other",
    `alter function pemba.subject() owner to ${login}`,
    `create trigger evil after insert on pemba_plans.questions execute function ${login}.leak()`,
    "set plpgsql.variable_conflict = error",
    "set session_replication_role = replica",
  ]) {
    await assert.rejects(sql.unsafe(text), { code: "42501" }, text);
  }
  await sql.begin(async (inside) => {
    await inside.unsafe("reset role; reset session authorization");
    await assert.rejects(
      inside.savepoint((nested) => nested`select from relationships`),
      { code: "42501" },
    );
  });
});

test("with temporary objects that have the names of Pemba's it gets the same answers", async () => {
  await sql.begin(async (inside) => {
    await inside.unsafe(`
      create temporary table tenants as select 1::bigint as number, '${tenant}' as id, 'x' as head_version;
      create temporary table questions (tenant bigint, version text, plans jsonb);
      create temporary table relationships (tenant bigint, entity_id text);
      create temporary view unnest as select '2' as id;
      create type pg_temp.jsonb as (x int);
      create type pg_temp.bigint as enum ('1');
      create function pg_temp.format(text, text) returns text language sql as $f$ select '2' $f$;
      create function pg_temp.locate(text, text, text, text, text, text) returns text
        language sql as $f$ select '2' $f$;
      create function pg_temp.alike(text, text) returns boolean language sql as 'select true';
      create operator pg_temp.= (leftarg = text, rightarg = text, function = pg_temp.alike);
      set local search_path = pg_temp, ${login}, pg_catalog;
    `);
    assert.deepEqual(await visible(inside), ["1"]);
    const [row] = await inside`
      select pemba.may(${tenant}, 'doc', '2', 'view', 'user', 'a') as may,
        pemba.visible_count(${tenant}, 'doc', 'view', 'user', 'a') as count
    `;
    assert.deepEqual({ ...row }, { may: false, count: 1 });
  });
});

test("behind a barrier or a policy its own conditions see no row that is denied", async (t) => {
  const { owner } = scene;
  await owner.unsafe(`
    create table guarded as select id from unnest(array['1', '2', '3']) as d(id);
    create view behind with (security_barrier) as
      select id from guarded where pemba.may('${tenant}', 'doc', id, 'view', 'user', 'a');
    create table own_rows as select id from guarded;
    alter table own_rows enable row level security;
    create policy own on own_rows using (pemba.may('${tenant}', 'doc', id, 'view', 'user', 'a'));
    grant select on behind, own_rows to ${login};
  `);
  t.after(async () => await owner`drop table guarded, own_rows cascade`);
  for (const place of ["behind", "own_rows"]) {
    await sql.unsafe(`truncate ${login}.seen`);
    const rows = await sql.unsafe(`select id from public.${place} where ${login}.leak(id)`);
    assert.deepEqual(
      rows.map(({ id }): unknown => id),
      ["1"],
    );
    const seen = await sql.unsafe(`select id from ${login}.seen`);
    assert.deepEqual(
      seen.map(({ id }): unknown => id),
      ["1"],
      place,
    );
  }
});

test("code of its own runs with its own rights where it is mixed with questions", async () => {
  await sql.unsafe(`
    create function ${login}.spy(id text) returns text language plpgsql immutable
      as $$ begin perform from public.relationships; return id; end $$;
    create domain ${login}.spied as text check (${login}.spy(value) is not null);
  `);
  for (const text of [
    `select pemba.may('${tenant}', 'doc', ${login}.spy('1'), 'view', 'user', 'a')`,
    `select pemba.may('${tenant}', 'doc', '1'::${login}.spied, 'view', 'user', 'a')`,
    `select from ${login}.docs where pemba.may('${tenant}', 'doc', id, 'view', 'user', 'a') and ${login}.spy(id) = id`,
    `create index on ${login}.docs (${login}.spy(id))`,
    `select from pemba.visible('${tenant}', 'doc', 'view', 'user', 'a') as v(id) order by ${login}.spy(v.id)`,
  ]) {
    await assert.rejects(sql.unsafe(text), { code: "42501" }, text);
  }
  // An answer may change, so no index keeps it.
  await assert.rejects(
    sql.unsafe(
      `create index on ${login}.docs (pemba.may('${tenant}', 'doc', id, 'view', 'user', 'a'))`,
    ),
    { code: "42P17" },
  );
  assert.deepEqual(await visible(sql), ["1"]);
});
