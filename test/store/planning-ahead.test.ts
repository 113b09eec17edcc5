/** A new connection plans what the others run most before it is asked. */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";

import type postgres from "postgres";

import { Database, type DatabaseOptions } from "../../src/store/postgres/connect/database.ts";
import { StatementMemory } from "../../src/store/postgres/connect/statement-memory.ts";
import { StatementUse } from "../../src/store/postgres/connect/statement-use.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { openLine } from "../support/line.ts";
import { fails, pool } from "./engines.ts";
import { connect, until } from "./open-write.ts";

let place: TestDatabase;
let sql: postgres.Sql;

before(async () => {
  place = await createTestDatabase();
  sql = connect(place.url, 1);
  await sql`create table notes (of integer)`;
});

after(async () => {
  await sql.end({ timeout: 1 });
  await place.drop();
});

const usual = "insert into notes values ($1::integer) returning pg_backend_pid() as backend";

/** A pool of two connections. */
async function open(t: TestContext, others: Partial<DatabaseOptions> = {}): Promise<Database> {
  const database = await Database.connect({
    url: place.url,
    pool: { ...pool, maxConnections: 2, minConnections: 2 },
    warn: assert.fail,
    ...others,
  });
  t.after(async () => await database.close());
  await untilIdle(database);
  return database;
}

async function untilIdle(database: Database): Promise<void> {
  await until(async () => (database.pool.idle === 2 ? true : undefined));
}

/** Runs the text so often that it is a usual one; the process that has run it. */
async function makeUsual(database: Database, text = usual): Promise<unknown> {
  for (let time = 0; time < 4; time++) await database.query(text, [1]);
  return (await database.query(text, [1]))[0]?.["backend"];
}

async function processes(): Promise<readonly number[]> {
  const rows = await sql<{ pid: number }[]>`select pid from pg_stat_activity
    where datname = current_database() and application_name = 'pemba'`;
  return rows.map(({ pid }) => pid);
}

/** Ends the connection that is not that of the process. */
async function loseOther(process: unknown): Promise<void> {
  const lost = (await processes()).filter((pid) => pid !== process);
  await sql`select pg_terminate_backend(pid) from unnest(${sql.array(lost)}::int[]) as lost (pid)`;
  await until(async () => {
    const present = await processes();
    return present.length === 2 && !present.some((pid) => lost.includes(pid)) ? true : undefined;
  });
}

interface Known {
  readonly backend: unknown;
  readonly planned: unknown;
}

/** How often each of the two connections has used its plan of the text; null when it has not prepared it. */
async function plansOf(database: Database, text: string): Promise<readonly Known[]> {
  const asked = `select pg_backend_pid() as backend,
      (select generic_plans::integer from pg_prepared_statements where statement = $1) as planned`;
  const both = [1, 2].map(async () => await database.query(asked, [text]));
  return (await Promise.all(both)).map(([row]) => ({
    backend: row?.["backend"],
    planned: row?.["planned"],
  }));
}

async function notes(): Promise<unknown> {
  const [row] = await sql`select count(*)::integer as count from notes`;
  return row?.["count"];
}

test("a new connection has planned what the other one runs, without running it", async (t) => {
  const database = await open(t);
  const first = await makeUsual(database);
  const written = await notes();
  await loseOther(first);
  await untilIdle(database);
  const planned = async (): Promise<unknown> =>
    (await plansOf(database, usual)).find(({ backend }) => backend !== first)?.planned;
  assert.equal(await planned(), 1);
  assert.equal(await notes(), written);
  // Prepared anew, there would be two of it.
  await Promise.all([1, 2].map(async () => await database.query(usual, [2])));
  assert.equal(await planned(), 2);
});

test("a text that the server refuses by now does not keep a connection from opening", async (t) => {
  const database = await open(t);
  await sql`create table gone (of integer)`;
  const text = "select pg_backend_pid() as backend, $1::integer from (select from gone) as none";
  await sql`insert into gone values (1)`;
  const first = await makeUsual(database, text);
  await sql`drop table gone`;
  await loseOther(first);
  await untilIdle(database);
  const asked = [1, 2].map(async () => await fails(database.query(text, [1]), "INTERNAL"));
  await Promise.all(asked);
  await makeUsual(database);
});

test("a lock that is in the way of a plan keeps no connection from opening", async (t) => {
  const database = await open(t);
  const first = await makeUsual(database);
  const other = connect(place.url, 1);
  t.after(async () => await other.end({ timeout: 1 }));
  await other.begin(async (transaction) => {
    await transaction`lock table notes in access exclusive mode`;
    await loseOther(first);
    await untilIdle(database);
  });
  await makeUsual(database);
  const asked =
    "select $1 || current_setting('statement_timeout') || current_setting('lock_timeout')";
  const limits = [1, 2].map(async () => await database.query(`${asked} as limits`, ["own "]));
  for (const [row] of await Promise.all(limits)) assert.equal(row?.["limits"], "own 00");
});

test("a connection that falls silent while it plans is given up, and one after it is made", async (t) => {
  const line = await openLine(t, place.url);
  const database = await open(t, {
    url: line.url,
    pool: { ...pool, maxConnections: 2, minConnections: 2, connectTimeoutMs: 500 },
  });
  const first = await makeUsual(database);
  line.silenceAt("explain (costs off)");
  await loseOther(first);
  await until(async () => (database.pool.opening === 1 ? true : undefined));
  await until(async () => (database.pool.opening === 0 ? true : undefined));
  assert.equal(database.pool.idle, 1);
  await line.mend();
  await untilIdle(database);
});

test("texts that are run most come first, and those that nothing runs any more are forgotten", () => {
  const use = new StatementUse();
  const run = (text: string, times: number): void => {
    for (let time = 0; time < times; time++) use.count(text);
  };
  run("old", 100);
  run("often", 30);
  run("rare", 1);
  run("most", 300);
  assert.deepEqual(use.usual, ["most", "old", "often"]);
  run("most", 50_000);
  run("often", 1_000);
  assert.deepEqual(use.usual, ["most", "often"]);
});

test("of very many texts a few are the usual ones", () => {
  const use = new StatementUse();
  for (let round = 0; round < 20; round++) {
    for (let nth = 0; nth < 100; nth++) use.count(`select ${nth}`);
  }
  assert.equal(use.usual.length, 16);
  for (let nth = 0; nth < 10_000; nth++) use.count(`select ${nth} + 1`);
  assert.deepEqual(use.usual, []);
});

test("what is planned ahead leaves most of a connection's room to what comes", () => {
  const memory = new StatementMemory();
  const texts = Array.from({ length: 100 }, (_, nth) => `${nth} ${"x".repeat(10_000)}`);
  const ahead = texts.filter((text) => memory.hasRoomAhead(text) && memory.run(text, true));
  assert.ok(ahead.length > 1 && ahead.every((text) => memory.hasPrepared(text)));
  assert.ok(ahead.length < texts.length && !memory.isNearlyFull);
  assert.ok(memory.run("y".repeat(10_000), true));
});
