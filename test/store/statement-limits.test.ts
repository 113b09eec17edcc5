/** What becomes of a statement whose time is over, and of the connection that it was sent over. */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";

import type postgres from "postgres";

import { Caller, forCaller } from "../../src/base/caller.ts";
import { Database, type DatabaseOptions } from "../../src/store/postgres/connect/database.ts";
import type { PoolOptions } from "../../src/store/postgres/connect/pool-options.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type Line, openLine } from "../support/line.ts";
import { fails, pool } from "./engines.ts";
import { connect, until } from "./open-write.ts";

let place: TestDatabase;
let sql: postgres.Sql;

before(async () => {
  place = await createTestDatabase();
  sql = connect(place.url, 1);
  await sql`create table noted (value integer)`;
});

after(async () => {
  await sql.end({ timeout: 1 });
  await place.drop();
});

async function open(
  t: TestContext,
  options: Partial<PoolOptions> = {},
  others: Partial<DatabaseOptions> = {},
): Promise<Database> {
  const database = await Database.connect({
    url: place.url,
    pool: { ...pool, ...options },
    warn: assert.fail,
    ...others,
  });
  t.after(async () => await database.close());
  return database;
}

async function openOverLine(
  t: TestContext,
  options: Partial<PoolOptions>,
  others: Partial<DatabaseOptions> = {},
): Promise<{ readonly line: Line; readonly database: Database }> {
  const line = await openLine(t, place.url);
  return { line, database: await open(t, options, { url: line.url, ...others }) };
}

async function noted(): Promise<readonly number[]> {
  const rows = await sql<{ value: number }[]>`select value from noted order by value`;
  return rows.map(({ value }) => value);
}

const slowNote = "insert into noted select $1::integer from pg_sleep(600)";

test("a change that takes too long is undone on the server, and says so", async (t) => {
  const database = await open(t, {}, { writeTimeoutMs: 50, maxRetries: 10 });
  const error = await fails(database.write(slowNote, [1]), "DEADLINE_EXCEEDED");
  assert.match(error.plainMessage, /`database\.write_timeout`/);
  await until(async () => {
    const running = await sql`select from pg_stat_activity
      where datname = current_database() and state = 'active' and query = ${slowNote}`;
    return running.length === 0 ? true : undefined;
  });
  assert.deepEqual(await noted(), []);
});

test("a change ends with the time of its caller", async (t) => {
  const database = await open(t, {}, { writeTimeoutMs: 3_600_000 });
  const caller = new Caller(new AbortController());
  caller.limitChange(performance.now() + 50);
  await fails(
    forCaller(caller, () => database.write(slowNote, [1])),
    "DEADLINE_EXCEEDED",
  );
});

test("a change whose caller has left goes on once it is sent, and is not sent before", async (t) => {
  const database = await open(t, { maxConnections: 1 });
  const leaving = new AbortController();
  const caller = new Caller(leaving);
  await sql`select pg_advisory_lock(51)`;
  const text = "insert into noted select $1::integer from pg_advisory_xact_lock(51)";
  const first = forCaller(caller, () => database.write(text, [2]));
  const second = forCaller(caller, () => database.write(text, [3]));
  await until(async () => (database.pool.waiting === 1 ? true : undefined));
  leaving.abort();
  await fails(second, "CANCELLED");
  assert.ok(caller.mayHaveChanged);
  await sql`select pg_advisory_unlock_all()`;
  await first;
  assert.deepEqual(await noted(), [2]);
});

test("a change that was undone is known to be", async (t) => {
  const database = await open(t);
  const caller = new Caller(new AbortController());
  const change = database.write.bind(database, "insert into noted values (1 / $1::integer)", [0]);
  await fails(forCaller(caller, change), "INTERNAL");
  assert.ok(!caller.mayHaveChanged);
});

test("a silent connection is ended after its statement was given up, and its place is free again", async (t) => {
  const { line, database } = await openOverLine(
    t,
    { maxConnections: 1, connectTimeoutMs: 1_000 },
    { readTimeoutMs: 50, writeTimeoutMs: 50 },
  );
  for (const ask of [
    async () => await database.read("select 1", []),
    async () => await database.write("select 1", []),
  ]) {
    line.silence("present");
    await fails(ask(), "DEADLINE_EXCEEDED");
    // Not yet: that a cancellation brings no answer is known only later.
    assert.equal(database.pool.busy, 1);
    assert.equal((await database.query("select 1 as one", []))[0]?.["one"], 1);
  }
});

test("while a renewal is silent the connection goes on that was to be replaced", async (t) => {
  const { line, database } = await openOverLine(t, { maxConnections: 1 }, { readTimeoutMs: 1_000 });
  const first = (await database.read("select pg_backend_pid() as pid", []))[0]?.["pid"];
  line.silence("new");
  await database.query(`select 1 -- ${"x".repeat(60_000)}`, []);
  await until(async () => (database.pool.opening === 1 ? true : undefined));
  assert.equal((await database.read("select pg_backend_pid() as pid", []))[0]?.["pid"], first);
  line.silence("present");
  await fails(database.read("select 1", []), "DEADLINE_EXCEEDED");
  database.cut();
});

test(
  "a server that falls silent while it is found out what it is, is given up in time",
  { timeout: 30_000 },
  async (t) => {
    const line = await openLine(t, place.url);
    line.silenceAt("begin");
    const opening = open(t, { connectTimeoutMs: 200 }, { url: line.url });
    const error = await fails(opening, "UNAVAILABLE");
    assert.match(String(error.cause), /the server took too long/);
  },
);
