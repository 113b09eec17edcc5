import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { Socket } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import type postgres from "postgres";

import { Connection } from "../../src/store/postgres/connect/connection.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { onDatabase } from "../../src/store/postgres/connect/on-database.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type Line, openLine } from "../support/line.ts";
import { fails, pool } from "./engines.ts";
import { connect, until, untilWaiting } from "./open-write.ts";

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

async function open(t: TestContext, url: string, maxRetries = 10): Promise<Database> {
  const database = await Database.connect({
    url,
    pool: { ...pool, maxConnections: 1 },
    maxRetries,
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

const absences: Readonly<Record<string, (line: Line) => Promise<void> | void>> = {
  "finds no server": async (line) => await line.cut(),
  "finds a proxy without a server": (line) => line.hangUp("made"),
  "finds a server that goes away at once": (line) => line.hangUp("begun"),
};

for (const [nth, [what, goAway]] of Object.entries(absences).entries()) {
  test(`a write that ${what} is made once the server is there`, async (t) => {
    const value = 10 + nth;
    const line = await openLine(t, place.url);
    const database = await open(t, line.url);
    await goAway(line);
    await until(async () => (database.pool.idle === 0 ? true : undefined));
    const writing = database.write("insert into noted values ($1::integer)", [value]);
    // It has had a try for which it waited in vain.
    await until(async () => (database.pool.waited > 0 ? true : undefined));
    await line.mend();
    await writing;
    assert.deepEqual(await valuesOf(value), [value]);
  });

  test(`a write that ${what} in all its tries is not said to be made, perhaps`, async (t) => {
    const line = await openLine(t, place.url);
    const database = await open(t, line.url, 1);
    await goAway(line);
    await until(async () => (database.pool.idle === 0 ? true : undefined));
    await assert.rejects(database.write("insert into noted values (0)", []), {
      code: "UNAVAILABLE",
      plainMessage: "the database does not answer",
    });
  });
}

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

/** The sockets that this process opens until the end of the test. */
function openedSockets(t: TestContext): readonly Socket[] {
  const sockets: Socket[] = [];
  const add = (message: unknown): void => {
    if (typeof message !== "object" || message === null || !("socket" in message)) return;
    if (message.socket instanceof Socket) sockets.push(message.socket);
  };
  subscribe("net.client.socket", add);
  t.after(() => unsubscribe("net.client.socket", add));
  return sockets;
}

const endsOfIdle = [
  { what: "reset", event: "error", how: "reset" },
  { what: "ended", event: "end", how: undefined },
] as const;

for (const { what, event, how } of endsOfIdle) {
  test(`statements that come just as an idle connection is ${what} go over another one`, async (t) => {
    const line = await openLine(t, place.url);
    for (const kind of ["read", "write"] as const) {
      const sockets = openedSockets(t);
      const database = await Database.connect({ url: line.url, pool, warn: assert.fail });
      t.after(async () => await database.close());
      const [socket] = sockets;
      assert.ok(socket !== undefined);
      // Of the system it is told later that it is closed.
      const isEnding = once(socket, event);
      const isAnswered = isEnding.then(async () => await database[kind]("select 7 as seven", []));
      line.cutOldest(how);
      assert.deepEqual([...(await isAnswered)], [{ seven: 7 }], kind);
      await database.close();
    }
  });
}

test("what is asked of a connection as it breaks fails, and is not waited for", async (t) => {
  const line = await openLine(t, place.url);
  for (const how of ["reset", undefined] as const) {
    const connection = await Connection.open({
      uri: line.url,
      timeoutMs: pool.connectTimeoutMs,
      settings: {},
      onGreeted: () => {},
    });
    t.after(async () => await connection.close());
    await connection.run("begin");
    await sql`select pg_advisory_lock(${lock})`;
    const waiting = connection.run("select pg_advisory_xact_lock($1::bigint)", [lock]);
    await untilWaiting(sql, 1);
    line.cutOldest(how);
    await fails(waiting, "UNAVAILABLE");
    const answers = [connection.run("rollback"), connection.script("rollback")];
    const failed = Promise.all(answers.map(async (answer) => await fails(answer, "UNAVAILABLE")));
    const isForgotten = connection.ended.then(nextRound).then(() => assert.fail("no answer"));
    await Promise.race([failed, isForgotten]);
    isForgotten.catch(() => {});
    await sql`select pg_advisory_unlock(${lock})`;
  }
});
