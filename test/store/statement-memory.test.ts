/** What the statements of a connection take of the server, and how it gives way to another one. */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";

import type postgres from "postgres";

import { Database, type DatabaseOptions } from "../../src/store/postgres/connect/database.ts";
import { statementBytesMax } from "../../src/store/postgres/connect/statement-memory.ts";
import { migrateUp } from "../../src/store/postgres/migrate.ts";
import { allStatements } from "../sql/statement-cases.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { pool } from "./engines.ts";
import { connect, until } from "./open-write.ts";

let place: TestDatabase;
let sql: postgres.Sql;

before(async () => {
  place = await createTestDatabase();
  await migrateUp(place.url);
  sql = connect(new URL("/postgres", place.url).href, 1);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await place.drop();
});

async function open(
  t: TestContext,
  maxConnections: number,
  others: Partial<DatabaseOptions> = {},
): Promise<Database> {
  const database = await Database.connect({
    url: place.url,
    pool: { ...pool, maxConnections },
    warn: assert.fail,
    ...others,
  });
  t.after(async () => await database.close());
  return database;
}

/** Longer than a statement usually is, so that few of them are much. */
const padding = "x".repeat(10_000);

/** Twice, since a text that comes but once is not worth preparing; the process that answered last. */
async function askTwice(database: Database, nth: number): Promise<unknown> {
  const text = `select $1::integer + ${nth} as sum, pg_backend_pid() as backend /* ${padding} */`;
  await database.query(text, [1]);
  const [row] = await database.query(text, [2]);
  assert.equal(row?.["sum"], nth + 2);
  return row["backend"];
}

/** How much of its own process the server says that a connection has. */
async function bytesOf(database: Database): Promise<number> {
  const [row] = await database.query(
    "select sum(total_bytes)::float8 as bytes from pg_backend_memory_contexts",
    [],
  );
  return Number(row?.["bytes"]);
}

test("the plans of a connection take no more memory than the limit, for any questions", async (t) => {
  const database = await open(t, 1);
  const start = await bytesOf(database);
  const backends = new Set<unknown>();
  for (const [nth, { statement }] of allStatements().entries()) {
    // Without values there is nothing to find, and the plan is the same.
    const values = Array.from({ length: countOfValues(statement.text) }, () => null);
    for (let time = 0; time < 2; time++) await database.query(statement.text, values);
    if (nth % 8 !== 0) continue;
    const [row] = await database.query("select pg_backend_pid() as backend", []);
    backends.add(row?.["backend"]);
    const bytes = (await bytesOf(database)) - start;
    assert.ok(bytes < statementBytesMax, `${bytes} bytes after ${nth} statements`);
  }
  assert.ok(backends.size > 1);
});

function countOfValues(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => Number(number)));
}

test("what is prepared stays until a connection has its fill", async (t) => {
  const database = await open(t, 1);
  const first = await askTwice(database, 0);
  for (let nth = 1; nth < 5; nth++) assert.equal(await askTwice(database, nth), first);
  const [row] = await database.query(
    "select count(*)::integer as count from pg_prepared_statements where strpos(statement, 'xxx') > 0",
    [],
  );
  assert.equal(row?.["count"], 5);
});

test("while connections are renewed none fails, none waits, and one at a time is more than the most", async (t) => {
  const most = 3;
  const seen: number[] = [];
  const opening: number[] = [];
  const database: Database = await open(t, most, {
    onStatement: () => {
      const { busy, idle, opening: made } = database.pool;
      seen.push(busy + idle + made);
      opening.push(made);
    },
  });
  // Until there is a connection for each.
  await until(async () => {
    const slow = async (): Promise<unknown> => await database.query("select pg_sleep(0.1)", []);
    await Promise.all(Array.from({ length: most }, slow));
    return database.pool.idle === most ? true : undefined;
  });
  const { waited } = database.pool;
  seen.length = 0;
  opening.length = 0;
  const backends = new Set<unknown>();
  const clients = Array.from({ length: most }, async (_, client) => {
    // How many texts it takes depends on how fast connections are made.
    for (let nth = 0; nth < 60 || (backends.size <= 2 * most && nth < 600); nth++) {
      backends.add(await askTwice(database, client * 600 + nth));
    }
  });
  await Promise.all(clients);
  assert.equal(database.pool.waited, waited);
  assert.ok(backends.size > 2 * most, String(backends.size));
  assert.equal(Math.max(...opening), 1);
  assert.equal(Math.max(...seen), most + 1);
});

test("a connection that has its fill goes on while the server takes no other one", async (t) => {
  const own = await createTestDatabase();
  t.after(async () => await own.drop());
  const name = new URL(own.url).pathname.slice(1);
  const database = await open(t, 1, { url: own.url });
  const first = await askTwice(database, 0);
  await sql`alter database ${sql(name)} allow_connections false`;
  for (let nth = 1; nth < 30; nth++) assert.equal(await askTwice(database, nth), first);
  assert.ok((await bytesOf(database)) < statementBytesMax);
  await sql`alter database ${sql(name)} allow_connections true`;
  await until(async () => ((await askTwice(database, 0)) === first ? undefined : true));
});

test("a connection that has run a very long text gives way, since planning it takes memory for good", async (t) => {
  const database = await open(t, 1);
  const first = await askTwice(database, 0);
  await database.query(`select 1 /* ${"x".repeat(100_000)} */`, []);
  await until(async () => ((await askTwice(database, 0)) === first ? undefined : true));
});
