/** What each option of the pool does, as the server sees it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";
import { after, before, type TestContext, test } from "node:test";

import type postgres from "postgres";

import { PembaError } from "../../src/base/error.ts";
import { openRoute } from "../../src/store/postgres/connect/connection-route.ts";
import type { Connection } from "../../src/store/postgres/connect/connection.ts";
import { Database, type DatabaseOptions } from "../../src/store/postgres/connect/database.ts";
import { noneFree } from "../../src/store/postgres/connect/lateness.ts";
import type { PoolOptions } from "../../src/store/postgres/connect/pool-options.ts";
import { Pool } from "../../src/store/postgres/connect/pool.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { openLine } from "../support/line.ts";
import { fails, pool } from "./engines.ts";
import { connect, until } from "./open-write.ts";

let place: TestDatabase;
let sql: postgres.Sql;

before(async () => {
  place = await createTestDatabase();
  sql = connect(place.url, 1);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await place.drop();
});

async function open(
  t: TestContext,
  options: Partial<PoolOptions>,
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

/** The processes that the server has for the pool, the oldest first. */
async function backends(): Promise<readonly number[]> {
  const rows = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'pemba' order by backend_start`;
  return rows.map(({ pid }) => pid);
}

async function untilBackends(count: number): Promise<readonly number[]> {
  return await until(async () => {
    const found = await backends();
    return found.length === count ? found : undefined;
  });
}

async function backendOf(database: Database): Promise<unknown> {
  const [row] = await database.query("select pg_backend_pid() as backend", []);
  return row?.["backend"];
}

/** A statement that runs until the lock is given back. */
async function holdConnection(database: Database, lock: number): Promise<() => Promise<void>> {
  await sql`select pg_advisory_lock(${lock})`;
  const running = database.query("select pg_advisory_xact_lock($1::bigint)", [lock]);
  await until(async () => {
    const rows = await sql`select from pg_locks where objid = ${lock} and not granted`;
    return rows.length === 1 ? true : undefined;
  });
  return async () => {
    await sql`select pg_advisory_unlock(${lock})`;
    await running;
  };
}

test("no more connections than the most are made, and what waits for one is counted", async (t) => {
  const database = await open(t, { maxConnections: 2 });
  const release = [await holdConnection(database, 31), await holdConnection(database, 32)];
  const waiting = [1, 2, 3].map(() => database.query("select 1 as one", []));
  const busy = { busy: 2, idle: 0, opening: 0, waiting: 3 };
  const { waited: _, waitedMs: __, ...state } = database.pool;
  assert.deepEqual(state, busy);
  assert.equal((await backends()).length, 2);
  await Promise.all(release.map((end) => end()));
  await Promise.all(waiting);
  assert.equal(database.pool.waiting, 0);
  assert.ok(database.pool.waited >= 3 && database.pool.waitedMs > 0);
});

test("a statement runs where it was prepared, even if another connection was of use later", async (t) => {
  const database = await open(t, { maxConnections: 2 });
  const release = await holdConnection(database, 37);
  const ask = async (): Promise<unknown> => {
    const [row] = await database.query("select pg_backend_pid() as backend, $1::integer", [1]);
    return row?.["backend"];
  };
  // A text that comes again is prepared.
  const backend = await ask();
  assert.equal(await ask(), backend);
  await release();
  await until(async () => (database.pool.idle === 2 ? true : undefined));
  assert.equal(await ask(), backend);
});

/** A pool of one connection, whose next ones are there once `server` lets them in. */
async function openGated(t: TestContext): Promise<{
  readonly gated: Pool;
  readonly letIn: () => void;
  readonly acquire: () => Promise<Connection>;
}> {
  const route = await openRoute({ url: place.url, timeoutMs: 0, warn: assert.fail });
  const gate = Promise.withResolvers<void>();
  const gated = new Pool({ ...pool, maxConnections: 4 }, async (signal) => {
    await gate.promise;
    return await route.open(signal);
  });
  gated.adopt(route.first);
  t.after(async () => {
    gate.resolve();
    await gated.close(1_000);
  });
  const acquire = (): Promise<Connection> =>
    gated.acquire("select 1", undefined, 0, () => noneFree("read"));
  return { gated, letIn: gate.resolve, acquire };
}

test("while a connection is in use others are made one at a time, and at once when callers wait long", async (t) => {
  const { gated, letIn, acquire } = await openGated(t);
  const first = await acquire();
  const waiting = [acquire(), acquire(), acquire()];
  assert.equal(gated.state.opening, 1);
  await until(async () => (gated.state.opening === 3 ? true : undefined));
  letIn();
  for (const connection of [first, ...(await Promise.all(waiting))]) gated.release(connection);
  assert.equal(gated.state.idle, 4);
});

test("when there is no connection, those that callers wait for are made together", async (t) => {
  const { gated, letIn, acquire } = await openGated(t);
  gated.discard(await acquire());
  const waiting = [acquire(), acquire(), acquire()];
  assert.equal(gated.state.opening, 3);
  letIn();
  for (const connection of await Promise.all(waiting)) gated.release(connection);
});

test("who is gone waits for no connection", async (t) => {
  const database = await open(t, { maxConnections: 1 });
  const release = await holdConnection(database, 33);
  const abort = new AbortController();
  const waiting = fails(database.query("select 1", [], abort.signal), "CANCELLED");
  abort.abort();
  await waiting;
  assert.equal(database.pool.waiting, 0);
  await release();
});

test("the least connections are there from the start, and again when they are lost", async (t) => {
  await open(t, { minConnections: 3, idleTimeoutMs: 1 });
  const first = await untilBackends(3);
  await sql`select pg_terminate_backend(pid) from unnest(${sql.array([...first])}::int[]) as lost (pid)`;
  await until(async () => {
    const second = await backends();
    return second.length === 3 && !second.some((pid) => first.includes(pid)) ? true : undefined;
  });
});

test("so many connections as are to be idle are kept beside those in use", async (t) => {
  const database = await open(t, { minIdleConnections: 2, idleTimeoutMs: 1 });
  await untilBackends(2);
  const release = [await holdConnection(database, 34), await holdConnection(database, 35)];
  await untilBackends(4);
  await Promise.all(release.map((end) => end()));
  await untilBackends(2);
});

test("a connection that is idle for too long is closed", async (t) => {
  const database = await open(t, { idleTimeoutMs: 50 });
  await Promise.all([1, 2, 3].map(() => database.query("select pg_sleep(0.01)", [])));
  await untilBackends(0);
  const kept = await open(t, { idleTimeoutMs: 0 });
  const first = await backendOf(kept);
  assert.equal(await backendOf(kept), first);
});

test("a connection whose time is over is replaced", async (t) => {
  const database = await open(t, { maxLifetimeMs: 1 });
  const first = await backendOf(database);
  await until(async () => ((await backendOf(database)) === first ? undefined : true));
});

test("a random part of the jitter is added to each lifetime", async (t) => {
  const hours = 1_000 * 3_600_000;
  const database = await open(t, { maxLifetimeMs: 1, lifetimeJitterMs: hours });
  const first = await backendOf(database);
  await database.query("select pg_sleep(0.1)", []);
  assert.equal(await backendOf(database), first);
});

test("a connection that has died without a word is found and replaced", async (t) => {
  const line = await openLine(t, place.url);
  const database = await open(
    t,
    { maxConnections: 1, healthCheckMs: 20, connectTimeoutMs: 1_000 },
    { url: line.url },
  );
  const first = await backendOf(database);
  line.silence("present");
  await until(async () =>
    database.pool.idle === 0 && database.pool.busy === 0 ? true : undefined,
  );
  assert.notEqual(await backendOf(database), first);
});

async function addressOf(server: ReturnType<typeof createServer>, target: string): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String(address.port);
  return url.href;
}

test("a server that accepts a connection and says nothing is given up in time", async (t) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  const url = await addressOf(server, place.url);
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const error = await fails(open(t, { connectTimeoutMs: 100 }, { url }), "UNAVAILABLE");
  assert.match(String(error.cause), /the server took too long/);
});

/** Accepts every client, and answers no statement, as a pooler whose server is away. */
async function openSilentPooler(t: TestContext): Promise<string> {
  const sockets = new Set<Socket>();
  const isIn = Buffer.from("520000000800000000" + "5a0000000549", "hex");
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => socket.write(isIn));
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return await addressOf(server, place.url);
}

test(
  "a server that lets in and says nothing then is given up in time",
  { timeout: 30_000 },
  async (t) => {
    const url = await openSilentPooler(t);
    const error = await fails(open(t, { connectTimeoutMs: 100 }, { url }), "UNAVAILABLE");
    assert.match(String(error.cause), /the server took too long/);
  },
);

test("a server that says nothing is given up though no limit is set", async (t) => {
  const url = await openSilentPooler(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let isOver = false;
  const opening = fails(open(t, { connectTimeoutMs: 0 }, { url }), "UNAVAILABLE").finally(() => {
    isOver = true;
  });
  for (let seconds = 0; seconds < 60 && !isOver; seconds++) {
    t.mock.timers.tick(1_000);
    await new Promise(setImmediate);
  }
  assert.ok(isOver);
  await opening;
});

test("a cut ends the connections that are being made", { timeout: 20_000 }, async (t) => {
  const line = await openLine(t, place.url);
  const database = await open(t, { maxConnections: 1, connectTimeoutMs: 0 }, { url: line.url });
  line.silence("all");
  database.cut();
  const waiting = fails(database.query("select 1", []), "UNAVAILABLE");
  await until(async () => (database.pool.opening === 1 ? true : undefined));
  database.cut(new PembaError("UNAVAILABLE", "gone for now"));
  await waiting;
  await until(async () => (database.pool.opening === 0 ? true : undefined));
});

test("a server that hangs up before it has accepted is not there", async (t) => {
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.end();
  });
  const url = await addressOf(server, place.url);
  t.after(() => server.close());
  await fails(open(t, {}, { url }), "UNAVAILABLE");
  assert.equal(calls, 1);
});

test("while a server is away, requests share the attempts to reach it", async (t) => {
  let isThere = true;
  let attempts = 0;
  const target = Number(new URL(place.url).port);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (!isThere) {
      attempts++;
      socket.destroy();
      return;
    }
    const there = createConnection(target, new URL(place.url).hostname);
    there.on("error", () => {});
    socket.pipe(there).pipe(socket);
  });
  t.after(() => server.close());
  const url = await addressOf(server, place.url);
  const database = await open(t, { maxConnections: 5 }, { url, maxRetries: 3 });
  isThere = false;
  database.cut();
  const asked = Array.from({ length: 100 }, async (_, nth) =>
    fails(database.read(`select ${nth}`, []), "UNAVAILABLE"),
  );
  await Promise.all(asked);
  // At first each of the five places of the pool is tried, and then one in each repetition.
  assert.ok(attempts >= 5 && attempts <= 5 + 3 * 2, `${attempts} attempts`);
  isThere = true;
  assert.equal((await database.read("select 1 as one", []))[0]?.["one"], 1);
});

test(
  "a pool that closes while the server is away refuses those who wait, and is closed at once",
  { timeout: 20_000 },
  async () => {
    const away = new Pool({ ...pool, maxConnections: 4 }, async () => {
      throw new PembaError("UNAVAILABLE", "refused");
    });
    const late = (): PembaError => noneFree("read");
    await fails(away.acquire("select 1", undefined, 0, late), "UNAVAILABLE");
    // It waits for the next attempt.
    const waiting = fails(away.acquire("select 1", undefined, 0, late), "UNAVAILABLE");
    await away.close(60_000);
    await waiting;
  },
);

test("of several hosts the first that is there is taken", async (t) => {
  const line = await openLine(t, place.url);
  await line.cut();
  const { host } = new URL(place.url);
  const url = line.url.replace(new URL(line.url).host, (gone) => `${gone},${host}`);
  const database = await open(t, {}, { url });
  assert.equal(typeof (await backendOf(database)), "number");
});

test("a read whose connection has died without a word ends all the same", async (t) => {
  const line = await openLine(t, place.url);
  const database = await open(
    t,
    { maxConnections: 1, connectTimeoutMs: 1_000 },
    { url: line.url, readTimeoutMs: 50 },
  );
  // The first one may take a busy server too long.
  await until(async () => await database.read("select 1", []).catch(() => undefined));
  line.silence("present");
  await fails(database.read("select 1", []), "DEADLINE_EXCEEDED");
  assert.equal((await database.query("select 1 as one", []))[0]?.["one"], 1);
});

test("a read that gets no connection is given up when its time is over, and says so", async (t) => {
  const database = await open(t, { maxConnections: 1 }, { readTimeoutMs: 50 });
  const release = await holdConnection(database, 36);
  const error = await fails(database.read("select 1", []), "DEADLINE_EXCEEDED");
  assert.match(error.plainMessage, /no connection .*`database\.read_timeout`/);
  assert.equal(database.pool.waiting, 0);
  await release();
  assert.equal((await database.query("select 1 as one", []))[0]?.["one"], 1);
});

test("a read that takes too long is ended on the server, and a write is not", async (t) => {
  const database = await open(t, {}, { readTimeoutMs: 50, maxRetries: 10 });
  await fails(database.read("select pg_sleep(600)", []), "DEADLINE_EXCEEDED");
  // The server tells of the end before it is done with it.
  await until(async () => {
    const running = await sql`select from pg_stat_activity
      where datname = current_database() and state = 'active' and query = 'select pg_sleep(600)'`;
    return running.length === 0 ? true : undefined;
  });
  await database.write("select pg_sleep(0.2)", []);
});

test("who waits for a connection fails when there is no reason to wait any more", async (t) => {
  const line = await openLine(t, place.url);
  const database = await open(t, { maxConnections: 1 }, { url: line.url });
  line.silence("all");
  const asked = ["select 1", "select 2", "select 3"].map(
    async (text) => await fails(database.query(text, []), "UNAVAILABLE"),
  );
  await until(async () => (database.pool.waiting === 2 ? true : undefined));
  database.cut(new PembaError("UNAVAILABLE", "gone for now"));
  const [, ...waited] = await Promise.all(asked);
  assert.deepEqual(
    waited.map(({ plainMessage }) => plainMessage),
    ["gone for now", "gone for now"],
  );
  assert.equal(database.pool.opening, 0);
});
