import assert from "node:assert/strict";
import { test } from "node:test";

import { openStore, tenantWithSchema, write } from "../store/engines.ts";
import { connect, until, untilLogIsOld } from "../store/open-write.ts";
import { runCommand } from "../support/commands-process.ts";
import { createMigratedDatabase, createTestDatabase } from "../support/database.ts";
import { runPemba, servePemba } from "../support/pemba.ts";

/** A database with two logged changes, both older than a millisecond. */
async function databaseWithHistory(): Promise<{
  readonly url: string;
  readonly logged: () => Promise<number>;
  readonly drop: () => Promise<void>;
}> {
  const { url, drop } = await createMigratedDatabase();
  const store = await openStore(url);
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await write(store, tenant, { tuples: ["doc:2#owner@user:a"] });
  await store.close();
  const sql = connect(url);
  await untilLogIsOld(sql);
  return {
    url,
    logged: async () => {
      const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from changes`;
      return row?.count ?? assert.fail();
    },
    drop: async () => {
      await sql.end({ timeout: 1 });
      await drop();
    },
  };
}

test("gc tells what would go, and removes it", async (t) => {
  const { url, logged, drop } = await databaseWithHistory();
  t.after(drop);
  const env = { SERVICE_DATABASE_URI: url };
  const kept = await runPemba(["gc"], { env });
  assert.deepEqual([kept.status, kept.stderr], [0, ""]);
  assert.match(kept.stdout, /^removed 0 logged changes in /);

  const preview = await runCommand(["gc", "--window", "1ms", "--dry-run"], { env });
  assert.equal(preview.stderr, "");
  assert.match(
    preview.stdout,
    /^would remove 1 of 2 logged changes, those below transaction \d+\n$/,
  );
  assert.equal(await logged(), 2);

  const { status, stdout, stderr } = await runCommand(["gc", "--window", "1ms"], { env });
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /^removed 1 logged changes in \d+\.\d s\n$/);
  assert.equal(await logged(), 1);
});

test("gc takes a database that is migrated and that no server has opened", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  t.after(drop);
  const uri = ["--database-uri", url];
  const preview = await runCommand(["gc", "--window", "1ms", "--dry-run", ...uri]);
  const nothing = "would remove 0 of 0 logged changes, those below transaction 0\n";
  assert.deepEqual([preview.status, preview.stdout, preview.stderr], [0, nothing, ""]);
  const { status, stdout, stderr } = await runCommand(["gc", "--window", "1ms", ...uri]);
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /^removed 0 logged changes in /);
});

test("what gc does not understand is one line and status 1", async () => {
  const uri = ["--database-uri", "postgres://127.0.0.1:1/x"];
  for (const [words, expected] of [
    [["gc"], /^pemba: `database\.uri`: is empty, [^\n]*\n$/],
    [["gc", "now", ...uri], /^pemba: gc: `now` is not understood\n$/],
    [["gc", "--window", "soon", ...uri], /^pemba: --window: expected a duration [^\n]*\n$/],
    [["gc", "--dry-run=perhaps", ...uri], /^pemba: --dry-run: expected true or false\n$/],
    [["gc", ...uri], /^pemba: [^\n]+\n$/],
  ] as const) {
    const { status, stderr } = await runCommand(words);
    assert.equal(status, 1);
    assert.match(stderr, expected);
  }
});

test("a database without its tables is not collected", async (t) => {
  const { url, drop } = await createTestDatabase();
  t.after(drop);
  const { status, stderr } = await runCommand(["gc", "--database-uri", url]);
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: the database lacks `0001_\w+`.*migrate up/);
});

test("a server collects by itself, says what went, and ends cleanly", async (t) => {
  const { url, logged, drop } = await databaseWithHistory();
  t.after(drop);
  const server = await servePemba(t, [
    "--database-engine=postgres",
    `--database-uri=${url}`,
    "--database-garbage-collection-enabled",
    "--database-garbage-collection-interval=10ms",
    "--database-garbage-collection-window=1ms",
  ]);
  await until(async () => ((await logged()) === 0 ? true : undefined));
  server.process.kill("SIGTERM");
  const { status, stdout, stderr } = await server.finished;
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /garbage collected/);
  assert.match(stdout, /removed: [12]\b/);
});
