import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";

import type postgres from "postgres";

import { Database } from "../../src/store/postgres/connect/database.ts";
import { onDatabase } from "../../src/store/postgres/connect/on-database.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { openLine } from "../support/line.ts";
import { fails, pool } from "./engines.ts";
import { connect, until } from "./open-write.ts";

/*
 * What becomes of a statement when its connection is lost: it waits for a lock that the test holds,
 * so it can be ended in its middle, and its repetition gets the lock once that is free.
 */

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

const lock = 4711;

async function open(t: TestContext, url: string): Promise<Database> {
  const database = await Database.connect({
    url,
    pool: { ...pool, maxConnections: 1 },
    maxRetries: 10,
    warn: assert.fail,
  });
  t.after(async () => await database.close());
  return database;
}

/** Ends the connection that waits for the lock, and then frees that. */
async function endWaiting(): Promise<void> {
  await until(async () => {
    const ended = await sql`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and objid = ${lock} and not granted
    `;
    return ended.length > 0 ? true : undefined;
  });
  await sql`select pg_advisory_unlock(${lock})`;
}

test("a read whose connection is lost is made again", async (t) => {
  const database = await open(t, place.url);
  await sql`select pg_advisory_lock(${lock})`;
  const reading = database.read("select pg_advisory_xact_lock($1::bigint), 7 as seven", [lock]);
  await endWaiting();
  const [row] = await reading;
  assert.equal(row?.["seven"], 7);
});

test("what follows a read that was lost among its rows has its own rows and no others", async (t) => {
  const database = await open(t, place.url);
  await sql`select pg_advisory_lock(${lock})`;
  // Larger than what the server gathers before it sends anything.
  const reading = database.query(
    `select repeat('x', 20000), case when row = 4 then pg_advisory_xact_lock($1::bigint) end
     from generate_series(1, 5) as rows (row)`,
    [lock],
  );
  await Promise.all([endWaiting(), fails(reading, "UNAVAILABLE")]);
  const rows = await until(
    async () => await database.query("select 7 as seven", []).catch(() => undefined),
  );
  assert.deepEqual([...rows], [{ seven: 7 }]);
});

test("a write whose connection is lost is not made again, and its outcome is said to be unknown", async (t) => {
  const database = await open(t, place.url);
  await sql`select pg_advisory_lock(${lock})`;
  const statement =
    "with waited as (select pg_advisory_xact_lock($1::bigint)) insert into noted select $2::integer from waited";
  const writing = fails(
    database.write(statement, [lock, 1]),
    "UNAVAILABLE",
    "may be made or may not",
  );
  await endWaiting();
  await writing;
  assert.deepEqual(await valuesOf(1), []);
  // The driver may not have seen yet that the connection is gone.
  await until(
    async () =>
      await database.write(statement, [lock, 1]).then(
        () => true,
        () => undefined,
      ),
  );
  assert.deepEqual(await valuesOf(1), [1]);
});

test("a write that finds no server is made once the server is there", async (t) => {
  const line = await openLine(t, place.url);
  const database = await open(t, line.url);
  await line.cut();
  await until(async () => (database.pool.idle === 0 ? true : undefined));
  const writing = database.write("insert into noted values ($1::integer)", [2]);
  // It has had a try for which it waited in vain.
  await until(async () => (database.pool.waited > 0 ? true : undefined));
  await line.mend();
  await writing;
  assert.deepEqual(await valuesOf(2), [2]);
});

async function valuesOf(value: number): Promise<readonly unknown[]> {
  const rows = await sql`select value from noted where value = ${value}`;
  return rows.map((row): unknown => row["value"]);
}

test("a server that takes a connection and says nothing is told with its port", async (t) => {
  const line = await openLine(t, place.url);
  line.silence("all");
  await assert.rejects(
    onDatabase(line.url, async () => {}, 100),
    ({ cause }: Error) => {
      assert.ok(cause instanceof Error);
      assert.ok(cause.message.endsWith(new URL(line.url).host), cause.message);
      return true;
    },
  );
});
