import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { PG_MIGRATE_LOCK_ID } from "node-pg-migrate";

import { connect, untilWaiting } from "../store/open-write.ts";
import { runCommand } from "../support/commands-process.ts";
import { createTestDatabase } from "../support/database.ts";
import { type Finished, runPemba, startPemba } from "../support/pemba.ts";

test("migrations go up, are listed with their time, and the last one is not taken back", async (t) => {
  const database = await createTestDatabase();
  t.after(database.drop);
  const env = { SERVICE_DATABASE_URI: database.url };
  const printed = ({ status, stdout, stderr }: Finished): string => {
    assert.deepEqual([status, stderr], [0, ""]);
    return stdout;
  };
  const migrate = async (word: string): Promise<string> =>
    printed(await runCommand(["migrate", word], { env }));
  const pending = await migrate("status");
  assert.match(pending, /^pending +0001_\w+\n/);
  assert.doesNotMatch(pending, /\d{4}-\d\d-\d\dT/);
  assert.match(printed(await runPemba(["migrate", "up"], { env })), /^applied 0001_\w+\n/);
  assert.equal(await migrate("up"), "no migration is pending\n");
  assert.doesNotMatch(await migrate("status"), /pending/);
  const { status, stderr } = await runPemba(["migrate", "down"], { env });
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^pemba: the migration `\d{4}_\w+` cannot be undone, [^\n]* new database\n$/,
  );
  assert.doesNotMatch(await migrate("status"), /pending/);
});

test("a role that may not make tables is told so in one line", async (t) => {
  const database = await createTestDatabase();
  const role = `pemba_test_stranger_${randomUUID().slice(0, 8)}`;
  const sql = connect(database.url);
  t.after(async () => {
    await sql`drop role ${sql(role)}`;
    await sql.end({ timeout: 1 });
    await database.drop();
  });
  await sql`create role ${sql(role)} login`;
  await sql`revoke create on schema public from public`;
  // A superuser that gives up its rights is a stranger too, on a server with any kind of login.
  const uri = `${database.url}?role=${role}`;
  const { status, stderr } = await runCommand(["migrate", "up", "--database-uri", uri]);
  assert.equal(status, 1);
  assert.equal(
    stderr,
    "pemba: migrating up failed and changed nothing: " +
      `the role \`${role}\` may not make and change tables in the schema \`public\`\n`,
  );
});

test("migrate and gc report a refused login as serve does", async (t) => {
  const database = await createTestDatabase();
  t.after(database.drop);
  const uri = new URL(database.url);
  uri.pathname = "/nowhere";
  for (const words of [["migrate", "up"], ["gc"]]) {
    const { status, stderr } = await runCommand([...words, "--database-uri", uri.href]);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^pemba: `database\.uri`: the database refuses the connection: database "nowhere" [^\n]*\n$/,
    );
  }
});

test("what migrate does not understand is one line and status 1", async () => {
  for (const [words, expected] of [
    [["migrate", "up"], /^pemba: `database\.uri`: is empty, [^\n]* by --database-uri, [^\n]*\n$/],
    [["sql", "enable"], /^pemba: `database\.uri`: is empty, [^\n]* by --database-uri, [^\n]*\n$/],
    [["migrate"], /^pemba: migrate: expected up, down or status\n$/],
    [["migrate", "stats"], /, not `stats` \(did you mean `status`\?\)\n$/],
    [["sql"], /^pemba: sql: expected [^\n]* map or reconcile\n$/],
    [["sql", "grants"], /, not `grants` \(did you mean `grant`\?\)\n$/],
    [
      ["migrate", "sideways", "--database-uri", "postgres://x/y"],
      /^pemba: migrate: expected up, down or status[^\n]*\n$/,
    ],
    [["migrate", "--database-uri", "postgres://127.0.0.1:1/x", "up"], /^pemba: [^\n]+\n$/],
  ] as const) {
    const { status, stderr } = await runCommand(words);
    assert.equal(status, 1);
    assert.match(stderr, expected);
  }
});

test("of a process that is killed while it waits to migrate nothing goes on waiting", async (t) => {
  const database = await createTestDatabase();
  const sql = connect(database.url, 2);
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await database.drop();
  });
  const other = await sql.reserve();
  await other`select pg_advisory_lock(${PG_MIGRATE_LOCK_ID})`;
  const env = { SERVICE_DATABASE_URI: database.url };
  const { process: migrator, finished } = startPemba(["migrate", "up"], { env });
  await untilWaiting(sql, 1);
  migrator.kill("SIGKILL");
  await finished;
  await untilWaiting(sql, 0);
  other.release();
});
