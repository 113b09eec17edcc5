import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";

import type postgres from "postgres";

import { fails, openStore } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { runPemba } from "../support/pemba.ts";
import { interfaceOptions } from "./interface-scene.ts";

interface Place {
  readonly url: string;
  readonly sql: postgres.Sql;
  readonly stranger: string;
}

async function place(t: TestContext): Promise<Place> {
  const { url, drop } = await createMigratedDatabase();
  const sql = connect(url, 1);
  const stranger = `stranger_${randomUUID().slice(0, 8)}`;
  await sql`create role ${sql(stranger)}`;
  t.after(async () => {
    await sql`drop owned by ${sql(stranger)} cascade`;
    await sql`drop role ${sql(stranger)}`;
    await sql.end({ timeout: 1 });
    await drop();
  });
  return { url, sql, stranger };
}

for (const schema of ["pemba", "pemba_plans"]) {
  test(`nothing is put into a schema \`${schema}\` of another role`, async (t) => {
    const { url, sql, stranger } = await place(t);
    await sql`create schema ${sql(schema)} authorization ${sql(stranger)}`;
    const opened = openStore(url, { sql: interfaceOptions });
    await fails(
      opened,
      "MIGRATION",
      "database.sql.schema",
      `\`${schema}\` belongs to another role`,
    );
    const [row] = await sql`
      select count(*)::int as made from pg_class where relnamespace = ${schema}::regnamespace
    `;
    assert.equal(row?.["made"], 0);
  });
}

test("an installation that another role made up is not believed", async (t) => {
  const { url, sql, stranger } = await place(t);
  await sql`create schema pemba_plans authorization ${sql(stranger)}`;
  await sql.unsafe(`
    set role ${stranger};
    create table pemba_plans.installation as select 1000000 as version, '' as settings;
    reset role;
  `);
  for (const autoMigrate of [true, false]) {
    const opened = openStore(url, { autoMigrate, sql: interfaceOptions });
    await fails(opened, "MIGRATION", "`pemba_plans` belongs to another role");
  }
  const dropped = await runPemba(["sql", "disable"], { env: { SERVICE_DATABASE_URI: url } });
  assert.equal(dropped.status, 1);
  assert.match(dropped.stderr, /belongs to another role/);
});

test("a plan schema with objects of others is refused and not touched", async (t) => {
  const { url, sql } = await place(t);
  await sql`create schema pemba_plans`;
  await sql`create table pemba_plans.questions (id int)`;
  const opened = openStore(url, { sql: interfaceOptions });
  await fails(opened, "MIGRATION", "the schema `pemba_plans` has objects of others");
});
