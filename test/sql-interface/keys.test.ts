import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { type ConfiguredStore, openConfigured } from "../cli/configured-store.ts";
import { fails, newTenant, schemaText, tenantId, write } from "../store/engines.ts";
import { problemsOf } from "../support/given-config.ts";

interface Opened extends ConfiguredStore {
  readonly tenant: string;
}

/** A store with the interface and a tenant whose documents are `doc:1` and `doc:2` of the user `a`. */
async function opened(t: TestContext, ...flags: readonly string[]): Promise<Opened> {
  const configured = await openConfigured(t, "--database-sql-enabled", ...flags);
  const tenant = await newTenant(configured.store);
  await configured.store.schemas.write(tenant, { text: schemaText });
  await write(configured.store, tenant, {
    tuples: ["doc:1#owner@user:a", "doc:2#viewer@group:g#member", "group:g#member@user:a"],
  });
  return { ...configured, tenant };
}

test("without the key `database.sql.enabled` no object is made", async (t) => {
  const { sql } = await openConfigured(t);
  const found = await sql`select nspname from pg_namespace where nspname like 'pemba%'`;
  assert.deepEqual([...found], []);
});

test("`database.sql.enabled` and `database.sql.history` are refused where they cannot be", () => {
  const enabled = problemsOf({ args: ["--database-sql-enabled"] });
  assert.deepEqual(enabled, [
    "`database.sql.enabled`: is true, expected false since `database.engine` is `memory`",
  ]);
  const history = problemsOf({ args: ["--database-sql-history"] });
  assert.deepEqual(history, [
    "`database.sql.history`: is true, expected false since SQL cannot ask states of the past yet",
  ]);
});

for (const [flag, values] of Object.entries({
  "database-sql-questions": [
    "doc",
    "doc.view",
    "doc.view@",
    "*.view@user",
    "doc.view@user#",
    "a.b@c;",
  ],
  "database-sql-subject": ["setting:role", "setting:", "jwt:", "select 1", "setting:a.b'c"],
  "database-sql-schema": ["", "pg_x", "Pemba", 'a"b', "a".repeat(58)],
  "database-sql-depth": ["0", "-1", "2147483648"],
})) {
  for (const value of values) {
    test(`--${flag} refuses ${JSON.stringify(value)} and names the key`, () => {
      const [problem, ...others] = problemsOf({
        args: ["--database-engine=postgres", "--database-uri=postgres://h/d", `--${flag}=${value}`],
      });
      assert.deepEqual(others, []);
      const key = flag.replace("database-sql-", "database.sql.");
      assert.match(
        problem ?? "",
        new RegExp(`^--${flag}: \`${key}\`: .* is not allowed, expected `),
      );
    });
  }
}

test("--database-sql-schema names the schema of the functions", async (t) => {
  const { sql, tenant } = await opened(t, "--database-sql-schema=rights");
  const [row] = await sql`select rights.may(${tenant}, 'doc', '1', 'view', 'user', 'a') as may`;
  assert.equal(row?.["may"], true);
  const [plans] = await sql`select count(*)::int as made from rights_plans.plans`;
  assert.ok(Number(plans?.["made"]) > 0);
});

test("--database-sql-questions says what can be asked", async (t) => {
  const { sql, tenant } = await opened(
    t,
    "--database-sql-questions=doc.owner@user,doc.*@group#member,thing.view@user",
  );
  const ask = async (permission: string, type: string, relation: string): Promise<unknown> => {
    const [row] = await sql`
      select pemba.may(${tenant}, 'doc', '2', ${permission}, ${type}, 'g', ${relation}) as may
    `;
    return row?.["may"];
  };
  assert.equal(await ask("owner", "user", ""), false);
  assert.equal(await ask("view", "group", "member"), true);
  await assert.rejects(ask("view", "user", ""), { code: "PB001" });
  await assert.rejects(ask("owner", "group", "member"), { code: "PB001" });
});

test("--database-sql-depth bounds the hops of a path", async (t) => {
  const { store, sql, tenant } = await opened(t, "--database-sql-depth=1");
  await write(store, tenantId(tenant), {
    tuples: ["doc:3#viewer@group:h#member", "group:h#member@group:g#member"],
  });
  const may = async (id: string): Promise<unknown> => {
    const [row] = await sql`select pemba.may(${tenant}, 'doc', ${id}, 'view', 'user', 'a') as may`;
    return row?.["may"];
  };
  assert.equal(await may("2"), true);
  await assert.rejects(may("3"), { code: "PB003" });
});

test("--database-sql-subject says where the subject comes from", async (t) => {
  const bySetting = await opened(t, "--database-sql-subject=setting:app.user");
  await bySetting.sql.begin(async (sql) => {
    await sql`select set_config('app.user', 'a', true)`;
    const [row] = await sql`select pemba.subject() as subject`;
    assert.equal(row?.["subject"], "a");
  });
  const [unset] = await bySetting.sql`select pemba.subject() as subject`;
  assert.equal(unset?.["subject"], null);
  const byClaim = await opened(t, "--database-sql-subject=jwt:https://app.example/sub");
  await byClaim.sql.begin(async (sql) => {
    const claims = JSON.stringify({ "https://app.example/sub": "a", sub: "b" });
    await sql`select set_config('request.jwt.claims', ${claims}, true)`;
    const [row] = await sql`select pemba.subject() as subject`;
    assert.equal(row?.["subject"], "a");
    await sql`select set_config('request.jwt.claims', '{"https://app.example/sub": ["a"]}', true)`;
    const [list] = await sql`select pemba.subject() as subject`;
    assert.equal(list?.["subject"], null);
  });
});

test("--database-sql-bound makes functions that take tenant and subject from settings", async (t) => {
  const { sql, tenant } = await opened(t, "--database-sql-bound");
  await sql.begin(async (inside) => {
    await inside`select set_config('pemba.tenant', ${tenant}, true)`;
    await inside`select set_config('pemba.subject', 'a', true)`;
    const [row] = await inside`
      select pemba.my_may('doc', '1', 'view') as may,
        array(select pemba.my_may_of('doc', array['1', 'x'], 'view')) as may_of,
        pemba.my_visible_count('doc', 'view') as count,
        array(select pemba.my_visible('doc', 'view', 'user') order by 1) as visible
    `;
    assert.deepEqual({ ...row }, { may: true, may_of: ["1"], count: 2, visible: ["1", "2"] });
  });
  await assert.rejects(sql`select pemba.my_may('doc', '1', 'view')`.execute(), {
    code: "22004",
    message: "the setting `pemba.tenant` is not set",
  });
  const without = await opened(t);
  await assert.rejects(without.sql`select pemba.my_may('doc', '1', 'view')`.execute(), {
    code: "42883",
  });
});

test("--database-sql-visible-max bounds the ids of an array", async (t) => {
  const { sql, tenant } = await opened(t, "--database-sql-visible-max=1");
  await assert.rejects(
    sql`select pemba.visible_ids(${tenant}, 'doc', 'view', 'user', 'a')`.execute(),
    { code: "54000", message: "`user:a` sees more than 1 entities of `doc`" },
  );
});

test("--database-sql-sync=command refuses a schema whose functions are missing", async (t) => {
  const { store, sql } = await openConfigured(
    t,
    "--database-sql-enabled",
    "--database-sql-sync=command",
  );
  const tenant = await newTenant(store);
  await fails(store.schemas.write(tenant, { text: schemaText }), "MIGRATION", "pemba sql sync");
  const [head] = await sql`select head_version from tenants where id = ${tenant}`;
  assert.equal(head?.["head_version"], null);
});
