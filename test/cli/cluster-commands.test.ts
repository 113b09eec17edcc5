/** Commands that work on the databases of several clusters. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { runCommand } from "../support/commands-process.ts";
import { createMigratedDatabase, createTestDatabase } from "../support/database.ts";
import { placedEngine } from "../support/engines.ts";
import { file } from "../support/given-config.ts";
import type { Finished } from "../support/pemba.ts";

/** Runs a command with clusters, which have these URIs by their names. */
async function run(uris: Readonly<Record<string, string>>, words: string): Promise<Finished> {
  const clusters = Object.entries(uris).map(([name, uri]) => ({ name, uri }));
  const env = {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_CLUSTERS: JSON.stringify(clusters),
  };
  return await runCommand(words.split(" "), { env });
}

async function urlOf(t: TestContext, isMigrated: boolean): Promise<string> {
  const database = await (isMigrated ? createMigratedDatabase() : createTestDatabase());
  t.after(database.drop);
  return database.url;
}

function elsewhere(url: string): string {
  const uri = new URL(url);
  uri.pathname = "/nowhere";
  return uri.href;
}

test("migrations go up on each cluster, and a failure on one is told and stops no other", async (t) => {
  const [a, c] = [await urlOf(t, false), await urlOf(t, false)];
  const { status, stdout, stderr } = await run({ a, b: elsewhere(a), c }, "migrate up");
  assert.equal(status, 1);
  assert.match(stdout, /^cluster a:\napplied 0001_[^]*\ncluster b:\ncluster c:\napplied 0001_/);
  assert.match(stderr, /^pemba: cluster b: [^\n]*nowhere[^\n]*\npemba: failed on `b`\n$/);
  const again = await run({ a, c }, "migrate up");
  assert.deepEqual(
    [again.status, again.stdout],
    [0, "cluster a:\nno migration is pending\ncluster c:\nno migration is pending\n"],
  );
});

test("a command works on the cluster that it names alone", async (t) => {
  const [a, b] = [await urlOf(t, false), await urlOf(t, false)];
  const one = await run({ a, b }, "migrate up --cluster b");
  assert.match(one.stdout, /^applied 0001_/);
  assert.match((await run({ a, b }, "migrate status --cluster a")).stdout, /^pending +0001_/);
  const none = await run({ a, b }, "migrate status --cluster c");
  assert.deepEqual([none.status, none.stderr], [1, "pemba: --cluster: `c` is none of `a`, `b`\n"]);
  const alone = await runCommand(["gc", "--cluster", "a", "--database-uri", a]);
  assert.match(alone.stderr, /^pemba: --cluster: is given, expected none without/);
});

test("history is removed on each cluster", async (t) => {
  const { status, stdout } = await run({ a: await urlOf(t, true), b: await urlOf(t, true) }, "gc");
  assert.equal(status, 0);
  assert.match(stdout, /^cluster a:\nremoved 0 logged [^\n]*\ncluster b:\nremoved 0 logged/);
});

test("the SQL interface is enabled and synced on each cluster, and printed for one", async (t) => {
  const uris = { a: await urlOf(t, true), b: await urlOf(t, true) };
  const missing = await run(uris, "sql status");
  assert.equal(missing.status, 2);
  const enabled = await run(uris, "sql enable");
  assert.equal(enabled.status, 0, enabled.stderr);
  assert.match(enabled.stdout, /^cluster a:\ninstalled the SQL[^]*\ncluster b:\ninstalled the SQL/);
  assert.match((await run(uris, "sql sync")).stdout, /^cluster a:\nsynced[^]*\ncluster b:\nsynced/);
  assert.equal((await run(uris, "sql status")).status, 0);
  const tenants = await run(uris, "sql sync --tenant t1");
  assert.match(tenants.stderr, /^pemba: --tenant: needs --cluster/);
  const schema = file(t, "entity user {}\n", "schema.perm");
  const generate = `sql generate --schema ${schema}`;
  const several = await run(uris, generate);
  assert.equal(several.stderr, "pemba: --cluster: is missing, expected one of `a`, `b`\n");
  assert.equal((await run(uris, `${generate} --cluster b`)).status, 0);
});

test("tenants are created on a cluster that is named, and listed with it", async (t) => {
  const app = await placedEngine.start();
  t.after(async () => await app.close());
  const url = await app.app.listen({ host: "127.0.0.1", port: 0 });
  const tenant = async (words: string): Promise<Finished> =>
    await runCommand(["tenant", ...words.split(" ")], { env: { PEMBA_URL: url } });
  assert.equal((await tenant("create far --cluster c")).stdout, "far\n");
  assert.match((await tenant("list --clusters")).stdout, /^far +c +\d{4}-\S+ +far$/m);
  assert.match((await tenant("list")).stdout, /^far +\d{4}-\S+ +far$/m);
  const { status, stderr } = await tenant("create lost --cluster d");
  assert.deepEqual(
    [status, stderr],
    [1, "pemba: cluster: `d` is none of the clusters `a`, `b`, `c`\n"],
  );
});
