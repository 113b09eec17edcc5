import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectSocket, createServer, type Server } from "node:net";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-ports.ts";
import { allowed, fails, openStore, pool, tenantWithSchema, write } from "./engines.ts";
import { connect, until, untilWaiting } from "./open-write.ts";

let place: TestDatabase;

before(async () => {
  place = await createTestDatabase();
});

after(async () => {
  await place.drop();
});

async function open(
  url = place.url,
  options: Partial<typeof pool> = {},
  warn: (message: string) => void = assert.fail,
): Promise<Database> {
  return await Database.connect({ url, pool: { ...pool, ...options }, warn });
}

interface Proxy {
  readonly url: string;
  readonly close: () => void;
}

/** Answers `refusal` to a client that starts with session settings, as a pooler does, else passes on. */
async function startProxy(target: string, refusal: { readonly code: string }): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const server: Server = createServer((client) => {
    client.once("data", (startup) => {
      if (startup.includes("plan_cache_mode")) {
        const fields = `SFATAL\0VFATAL\0C${refusal.code}\0Munsupported startup parameter\0\0`;
        const message = Buffer.alloc(5);
        message.write("E");
        message.writeInt32BE(fields.length + 4, 1);
        client.end(Buffer.concat([message, Buffer.from(fields)]));
        return;
      }
      const upstream = connectSocket(Number(port), hostname);
      upstream.write(startup);
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) socket.on("error", () => {});
    });
  });
  const url = await listenFor(target, server);
  return { url, close: () => server.close() };
}

/** The address at which a proxy stands before the database. */
async function listenFor(target: string, server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String(address.port);
  return url.href;
}

async function settingsOf(database: Database): Promise<ReadonlyMap<unknown, unknown>> {
  const rows = await database.query("select name, setting from pg_settings", []);
  return new Map(rows.map((row) => [row["name"], row["setting"]]));
}

test("a connection starts with its own settings, not with those of the database", async () => {
  const sql = connect(place.url, 1);
  await sql.unsafe(
    `alter database "${new URL(place.url).pathname.slice(1)}"
     set default_transaction_isolation = 'serializable'`,
  );
  await sql.end({ timeout: 1 });
  const database = await open();
  const settings = await settingsOf(database);
  for (const [name, value] of Object.entries(sessionSettings)) {
    assert.equal(settings.get(name), value, name);
  }
  await database.close();
});

test("a pooler that refuses settings is used without them, with a warning", async () => {
  const fresh = await createTestDatabase();
  const proxy = await startProxy(fresh.url, { code: "08P01" });
  const warnings: string[] = [];
  const store = await openStore(proxy.url, {
    warn: (message) => {
      warnings.push(message);
    },
  });
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  const asked = { id: "1", permission: "view", subject: "a" };
  assert.equal(await allowed(store, tenant, asked), true);
  assert.equal(warnings.length, 1, warnings.join("\n"));
  assert.match(warnings[0] ?? "", /plan_cache_mode=force_generic_plan/);
  await store.close();
  proxy.close();
  await fresh.drop();
});

test("any other refusal at the start is an error", async () => {
  const proxy = await startProxy(place.url, { code: "28P01" });
  await fails(open(proxy.url), "UNAVAILABLE");
  proxy.close();
});

test("a server that is not there is unavailable", async () => {
  const port = await freePort();
  await fails(open(`postgres://postgres@127.0.0.1:${port}/postgres`), "UNAVAILABLE");
  const missing = new URL(place.url);
  missing.pathname = "/no_such_database";
  await fails(open(missing.href), "UNAVAILABLE");
});

test("a database that takes no connections, or none of the role, is unavailable", async () => {
  const closed = await createTestDatabase();
  const sql = connect(place.url, 1);
  const name = new URL(closed.url).pathname.slice(1);
  const role = `${name}_stranger`;
  await sql`create role ${sql(role)} login`;
  await sql`revoke connect on database ${sql(name)} from public`;
  const url = new URL(closed.url);
  url.username = role;
  await assert.rejects(open(url.href), { code: "UNAVAILABLE", message: /refuses the connection/ });
  const database = await open(closed.url);
  await sql`alter database ${sql(name)} allow_connections false`;
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
  const ask = async (): Promise<unknown> => await database.query("select 1", []);
  // The end of its connection may come to light with the first statement.
  await fails(ask(), "UNAVAILABLE");
  await assert.rejects(ask, { code: "UNAVAILABLE", message: /refuses the connection/ });
  await sql`alter database ${sql(name)} allow_connections true`;
  await ask();
  // The same state without an end of the connection is a fault of a statement.
  const forbidden = "do $$ begin raise 'no' using errcode = '42501'; end $$";
  await fails(database.query(forbidden, []), "INTERNAL");
  await database.close();
  await sql`drop role ${sql(role)}`;
  await sql.end({ timeout: 1 });
  await closed.drop();
});

test("lost connections fail what runs on them, and the pool goes on with new ones", async () => {
  const database = await open();
  const sleeping = fails(database.query("select pg_sleep(60)", []), "UNAVAILABLE");
  const sql = connect(place.url, 1);
  await until(async () => {
    const ended = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and query = 'select pg_sleep(60)'
    `;
    return ended.length > 0 ? true : undefined;
  });
  await sleeping;
  const [row] = await database.query("select 1 as one", []);
  assert.equal(row?.["one"], 1);
  await sql.end({ timeout: 1 });
  await database.close();
});

test("a statement that fails says nothing of the inside, its cause does", async () => {
  const database = await open();
  const error = await fails(database.query("select secret from nowhere", []), "INTERNAL");
  assert.doesNotMatch(error.message, /nowhere|secret/);
  assert.match(String(error.cause), /nowhere/);
  await database.close();
});

test("a statement that fails before it is sent leaves its connection to others", async () => {
  const database = await open(place.url, { maxConnections: 1 });
  const fault = new Error("no values");
  const changer = {
    signal: new AbortController().signal,
    changeEndsAt: undefined,
    sendsChange: () => {},
    undoesChange: () => {},
  };
  const values = (): never => {
    throw fault;
  };
  await assert.rejects(database.writeTogether("select $1::text", values, changer), fault);
  assert.equal(database.pool.busy, 0);
  await database.close();
});

test("what follows a statement that failed between its rows has its own rows and no others", async () => {
  const database = await open(place.url, { maxConnections: 1 });
  const broken = "select 1 / (row - 3) from generate_series(1, 5) as rows (row)";
  // Sent the second time, a text is prepared, and the driver runs it in another way.
  for (const time of ["first", "second", "third"]) {
    await fails(database.query(broken, []), "INTERNAL");
    const rows = await database.query("select 7 as seven", []);
    assert.deepEqual([...rows], [{ seven: 7 }], time);
  }
  await fails(database.query(broken, []), "INTERNAL");
  assert.deepEqual([...(await database.query("select where false", []))], []);
  await database.close();
});

test("what follows a statement that was cancelled between its rows has its own rows and no others", async () => {
  const database = await open(place.url, { maxConnections: 1 });
  const sql = connect(place.url);
  const holder = await sql.reserve();
  await holder`select pg_advisory_lock(16)`;
  const abort = new AbortController();
  const halfway = fails(
    database.read(
      `select case when row = 3 then pg_advisory_xact_lock(16) end
       from generate_series(1, 5) as rows (row)`,
      [],
      abort.signal,
    ),
    "CANCELLED",
  );
  await untilWaiting(sql, 1);
  abort.abort();
  await halfway;
  const rows = await database.write("select n from generate_series(1, 4) as numbers (n)", []);
  assert.deepEqual(
    rows.map((row) => row["n"]),
    [1, 2, 3, 4],
  );
  assert.equal(rows.length, 4);
  await holder`select pg_advisory_unlock(16)`;
  holder.release();
  await sql.end({ timeout: 1 });
  await database.close();
});

test("texts are remembered up to so many characters, however few they are", async () => {
  const database = await open(place.url, { maxConnections: 1 });
  const text = "select $1::integer + 4100 as sum";
  const isPrepared = async (): Promise<unknown> => {
    const [row] = await database.query(
      "select exists (select from pg_prepared_statements where statement = $1) as known",
      [text],
    );
    return row?.["known"];
  };
  await database.query(text, [1]);
  const padding = "x".repeat(3_000_000);
  for (let index = 0; index < 7; index++) {
    await database.query(`select ${index} as sum /* ${padding} */`, []);
  }
  await database.query(text, [1]);
  assert.equal(await isPrepared(), false);
  // The long texts had the connection renewed, which may happen after the text was prepared on it.
  do await database.query(text, [1]);
  while ((await isPrepared()) !== true);
  await database.close();
});

test("a limit that is longer than any timer is one that never ends a statement", async () => {
  const month = 31 * 24 * 3_600_000;
  const database = await Database.connect({
    url: place.url,
    pool: { ...pool, connectTimeoutMs: month },
    readTimeoutMs: month,
    warn: assert.fail,
  });
  const rows = await database.read("select 1 as one from pg_sleep(0.05)", []);
  assert.deepEqual([...rows], [{ one: 1 }]);
  await database.close();
});

test("a statement that the server gives up on is no fault of ours", async () => {
  const database = await open(place.url, { maxConnections: 1 });
  await database.query("select set_config('statement_timeout', '50ms', false)", []);
  await fails(database.query("select pg_sleep(600)", []), "DEADLINE_EXCEEDED");
  await database.close();
});

test("a statement that somebody else cancels fails once, and is not run again", async () => {
  const database = await open(place.url, { maxConnections: 1 });
  const sql = connect(place.url);
  const holder = await sql.reserve();
  await holder`select pg_advisory_lock(17)`;
  const waiting = fails(
    database.write("select pg_advisory_lock(17)", []),
    "DEADLINE_EXCEEDED",
    "the database cancelled the request",
  );
  await untilWaiting(sql, 1);
  await sql`select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await waiting;
  assert.deepEqual(await untilWaiting(sql, 0), []);
  await holder`select pg_advisory_unlock(17)`;
  holder.release();
  await sql.end({ timeout: 1 });
  await database.close();
});

test("a statement that a late cancellation of ours hits is run again", async () => {
  const proxy = await holdCancellations(place.url);
  const database = await open(proxy.url, { maxConnections: 1 });
  const sql = connect(place.url);
  const holder = await sql.reserve();
  await holder`select pg_advisory_lock(18)`;
  const abort = new AbortController();
  const first = database.query("select 1 as one from pg_advisory_xact_lock(18)", [], abort.signal);
  await untilWaiting(sql, 1);
  abort.abort();
  await until(async () => (proxy.held() === 1 ? true : undefined));
  await holder`select pg_advisory_unlock(18)`;
  assert.deepEqual([...(await first)], [{ one: 1 }]);

  await holder`select pg_advisory_lock(19)`;
  const second = database.write("select 2 as two from pg_advisory_xact_lock(19)", []);
  const [{ since } = assert.fail("no statement waits")] = await until(
    async () => await waitingSince(sql),
  );
  proxy.release();
  // It waits again, in a statement that began later.
  await until(async () => {
    const [again] = (await waitingSince(sql)) ?? [];
    return again !== undefined && again.since !== since ? true : undefined;
  });
  await holder`select pg_advisory_unlock(19)`;
  assert.deepEqual([...(await second)], [{ two: 2 }]);
  holder.release();
  await sql.end({ timeout: 1 });
  await database.close();
  proxy.close();
});

test(
  "a statement whose caller leaves and whose time is over is cancelled once, and counts once",
  { timeout: 60_000 },
  async () => {
    const proxy = await holdCancellations(place.url);
    const database = await Database.connect({
      url: proxy.url,
      pool: { ...pool, maxConnections: 1 },
      warn: assert.fail,
      readTimeoutMs: 100,
    });
    const sql = connect(place.url);
    const holder = await sql.reserve();
    await holder`select pg_advisory_lock(21)`;
    const abort = new AbortController();
    const first = fails(
      database.read("select from pg_advisory_xact_lock(21)", [], abort.signal),
      "DEADLINE_EXCEEDED",
    );
    await untilWaiting(sql, 1);
    abort.abort();
    await first;
    await until(async () => (proxy.held() === 1 ? true : undefined));
    proxy.release();
    await until(async () => (database.pool.idle === 1 ? true : undefined));

    const second = fails(
      database.query("select from pg_advisory_xact_lock(21)", []),
      "DEADLINE_EXCEEDED",
    );
    await untilWaiting(sql, 1);
    await sql`
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await second;
    await holder`select pg_advisory_unlock(21)`;
    holder.release();
    await sql.end({ timeout: 1 });
    await database.close();
    proxy.close();
  },
);

async function waitingSince(
  sql: postgres.Sql,
): Promise<readonly { readonly since: string }[] | undefined> {
  const rows = await sql<{ since: string }[]>`
    select query_start::text as since from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return rows.length === 0 ? undefined : [...rows];
}

/** Passes everything on but requests to cancel, which wait until they are released. */
async function holdCancellations(
  target: string,
): Promise<Proxy & { readonly held: () => number; readonly release: () => void }> {
  const { hostname, port } = new URL(target);
  const cancelCode = 80877102;
  const held: (() => void)[] = [];
  const server: Server = createServer((client) => {
    client.on("error", () => {});
    client.once("data", (startup) => {
      const pass = (): void => {
        const upstream = connectSocket(Number(port), hostname);
        upstream.on("error", () => {});
        upstream.write(startup);
        client.pipe(upstream).pipe(client);
      };
      if (startup.readInt32BE(4) === cancelCode) held.push(pass);
      else pass();
    });
  });
  const url = await listenFor(target, server);
  return {
    url,
    close: () => server.close(),
    held: () => held.length,
    release: () => held.forEach((pass) => pass()),
  };
}

test("a cancellation that does not reach the server is no fault of the process", async (t) => {
  const proxy = await holdCancellations(place.url);
  const database = await open(proxy.url, { maxConnections: 1 });
  const sql = connect(place.url);
  const holder = await sql.reserve();
  t.after(async () => {
    holder.release();
    await sql.end({ timeout: 1 });
    await database.close();
  });
  await holder`select pg_advisory_lock(23)`;
  const abort = new AbortController();
  const left = fails(
    database.query("select from pg_advisory_xact_lock(23)", [], abort.signal),
    "CANCELLED",
  );
  await untilWaiting(sql, 1);
  // What is open stays so, and nothing new is let through.
  proxy.close();
  abort.abort();
  await left;
  await holder`select pg_advisory_unlock(23)`;
  await until(async () => (database.pool.idle === 1 ? true : undefined));
});

test("a lock that is not to be had in time is a conflict and no fault of ours", async () => {
  const database = await open(place.url, { maxConnections: 1 });
  await database.query("select set_config('lock_timeout', '50ms', false)", []);
  const sql = connect(place.url, 1);
  await sql`select pg_advisory_lock(20)`;
  await fails(database.write("select pg_advisory_lock(20)", []), "CHANGE_BLOCKED");
  await sql.end({ timeout: 1 });
  await database.close();
});
