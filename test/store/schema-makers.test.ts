/** Roles that may make objects beside Pemba's tables. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test, type TestContext } from "node:test";

import type postgres from "postgres";

import { runCommand } from "../support/commands-process.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { openStore } from "./engines.ts";
import { connect } from "./open-write.ts";

interface Place {
  readonly url: string;
  readonly sql: postgres.Sql;
  readonly role: string;
}

async function place(t: TestContext): Promise<Place> {
  const { url, drop } = await createMigratedDatabase();
  const sql = connect(url, 1);
  const role = `maker_${randomUUID().slice(0, 8)}`;
  await sql`create role ${sql(role)}`;
  t.after(async () => {
    await sql.unsafe(`reassign owned by ${role} to current_user; drop owned by ${role}`);
    await sql`drop role ${sql(role)}`;
    await sql.end({ timeout: 1 });
    await drop();
  });
  return { url, sql, role };
}

/** What a start warns of. */
async function warnings(url: string): Promise<readonly string[]> {
  const told: string[] = [];
  const store = await openStore(url, { warn: (message) => told.push(message) });
  await store.close();
  return told;
}

const rest =
  "may make objects in the schema `public`, beside Pemba's tables, and so get the rights of Pemba";

test("a start and `sql enable` tell that every role may make objects beside the tables", async (t) => {
  const { url, sql } = await place(t);
  assert.deepEqual(await warnings(url), []);
  await sql`grant create on schema public to public`;
  const warning = `every role ${rest}: revoke \`create\` on the schema from \`public\``;
  assert.deepEqual(await warnings(url), [warning]);
  const { status, stderr } = await runCommand(["sql", "enable"], {
    env: { SERVICE_DATABASE_URI: url },
  });
  assert.deepEqual([status, stderr], [0, `pemba: warning: ${warning}\n`]);
});

test("a start tells which role may, unless it has the rights of the owner of the tables", async (t) => {
  const { url, sql, role } = await place(t);
  const warning = `another role (\`${role}\`) ${rest}: revoke \`create\` on the schema from it`;
  await sql`grant usage on schema public to ${sql(role)}`;
  assert.deepEqual(await warnings(url), []);
  await sql`grant create on schema public to ${sql(role)}`;
  assert.deepEqual(await warnings(url), [warning]);
  await sql`revoke create on schema public from ${sql(role)}`;
  await sql`alter schema public owner to ${sql(role)}`;
  assert.deepEqual(await warnings(url), [warning]);
  await sql`alter schema public owner to pg_database_owner`;
  const database = new URL(url).pathname.slice(1);
  await sql`alter database ${sql(database)} owner to ${sql(role)}`;
  assert.deepEqual(await warnings(url), [warning]);
  await sql`alter table tenants owner to ${sql(role)}`;
  assert.deepEqual(await warnings(url), []);
});
