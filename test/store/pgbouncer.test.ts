/**
 * A real pooler before the database that gives out its connections by the transaction: one statement
 * may run on another server process than the one before. `PEMBA_TEST_PGBOUNCER` names its program
 * where it is not the `pgbouncer` of the path.
 */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";

import postgres from "postgres";

import { emptyContext, type TenantId } from "../../src/base/tuple.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { migrateDown, migrateUp } from "../../src/store/postgres/migrate.ts";
import type { PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import {
  createMigratedDatabase,
  createTestDatabase,
  type TestDatabase,
} from "../support/database.ts";
import { openLine } from "../support/line.ts";
import { migrationNames } from "../support/migration-names.ts";
import { pgbouncerVersion, startPgbouncer } from "../support/pgbouncer.ts";
import { follow, textOf } from "./change-streams.ts";
import { allowed, fails, openStore, pool, tenantWithSchema, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { connect, until, untilWaiting } from "./open-write.ts";

const version = await pgbouncerVersion();
const skip = version === undefined ? "there is no pgbouncer on this machine" : false;
const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
const keepsPrepared = major > 1 || minor >= 21;
const skipUnprepared =
  skip || (keepsPrepared ? false : `pgbouncer ${version} keeps no prepared statements`);

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

interface Behind {
  readonly store: Store;
  readonly url: string;
  readonly tenant: TenantId;
  readonly warnings: readonly string[];
}

/** A store whose only route to the database is a new pooler. */
async function openBehind(
  t: TestContext,
  options: Partial<PostgresStoreOptions> = {},
  settings: readonly string[] = [],
): Promise<Behind> {
  const { url } = await startPgbouncer(t, place.url, settings);
  const warnings: string[] = [];
  const store = await openStore(url, { warn: (text) => void warnings.push(text), ...options });
  t.after(async () => await store.close());
  return { store, url, tenant: await tenantWithSchema(store), warnings };
}

/** Runs a statement on each server process that the pooler has. */
async function onServers(url: string, text: string): Promise<readonly postgres.Row[]> {
  // Nothing of its own is to be found there.
  const behind = postgres(url, { max: 1, fetch_types: false, prepare: false });
  try {
    const rows = [];
    // They are dealt out in turn.
    for (let turn = 0; turn < 6; turn++) rows.push(...(await behind.unsafe(text).simple()));
    return rows;
  } finally {
    await behind.end({ timeout: 1 });
  }
}

const docs = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `doc:${index}#owner@user:a`);

test("migrations go up once behind a pooler", { skip }, async (t) => {
  const empty = await createTestDatabase();
  t.after(async () => await empty.drop());
  const { url } = await startPgbouncer(t, empty.url);
  const applied = await Promise.all([migrateUp(url), migrateUp(url), migrateUp(url)]);
  const up = applied.flat();
  assert.deepEqual(up, migrationNames);
  await fails(migrateDown(url, up.length), "MIGRATION", "cannot be undone");
  assert.deepEqual(await migrateUp(url), []);
});

test(
  "a start tells of a schema in the path of a pooler where others may make objects",
  { skip },
  async (t) => {
    const own = await createMigratedDatabase();
    t.after(async () => await own.drop());
    const owner = connect(own.url, 1);
    await owner`create schema app`;
    await owner`grant create on schema app to public`;
    const database = new URL(own.url).pathname.slice(1);
    await owner`alter database ${owner(database)} set search_path = app, public`;
    await owner.end();
    const warningsAt = async (url: string): Promise<readonly string[]> => {
      const warnings: string[] = [];
      const store = await openStore(url, { warn: (text) => void warnings.push(text) });
      await store.close();
      return warnings.filter((text) => text.includes("make objects"));
    };
    assert.deepEqual(await warningsAt(own.url), []);
    const { url } = await startPgbouncer(t, own.url);
    assert.deepEqual(await warningsAt(url), [
      "every role may make objects in the schema `app`, which is in the search path, and so get the rights of Pemba: revoke `create` on the schema from `public`, or set `search_path` of Pemba's role to the schema of its tables",
    ]);
  },
);

test("everything is answered as without a pooler", { skip }, async (t) => {
  const { store, tenant } = await openBehind(t);
  const first = await write(store, tenant, { tuples: docs(20) });
  const second = await remove(store, tenant, { tuples: { ids: ["3"] } });
  const asked = { id: "3", permission: "view", subject: "a" };
  // More than the pooler has servers, again and again, so that texts would be prepared.
  const rounds = Array.from({ length: 60 }, async (_, round) => {
    const at = [first, second, undefined][round % 3];
    assert.equal(await allowed(store, tenant, { ...asked, at }), at === first);
    const { items } = await store.lookups.entities(tenant, {
      schemaVersion: undefined,
      snapToken: at,
      depth: 100,
      context: emptyContext,
      entityType: "doc",
      permission: "view",
      subject: { type: "user", id: "a", relation: "" },
      scope: new Map(),
      after: undefined,
      limit: 100,
    });
    assert.equal(items.length, at === first ? 20 : 19);
  });
  await Promise.all(rounds);
  const path = (_item: number, field: string): string => field;
  const answers = await store.permissions.check(tenant, {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 100,
    context: emptyContext,
    items: ["1", "2", "3"].map((id) => ({
      entity: { type: "doc", id },
      permission: "view",
      subject: { type: "user", id: "a", relation: "" },
      arguments: [],
    })),
    path,
  });
  assert.deepEqual(
    answers.map((answer) => answer.allowed),
    [true, true, false],
  );
  await store.tenants.delete(tenant);
  await fails(allowed(store, tenant, asked), "TENANT_NOT_FOUND");
  await until(async () => {
    const [row] = await sql`select count(*)::int as count from relationships`;
    return row?.["count"] === 0 ? true : undefined;
  });
});

test("changes are followed behind a pooler, without listening", { skip }, async (t) => {
  const { store, tenant, url } = await openBehind(t, { watch: { readAheadMax: 10 } });
  const follower = await follow(store, tenant);
  for (const name of ["a", "b", "c"]) {
    await write(store, tenant, { tuples: [`doc:1#owner@user:${name}`] });
    assert.deepEqual(textOf(await follower.next()), [`+doc:1#owner@user:${name}`]);
  }
  await follower.leave();
  assert.deepEqual(await onServers(url, "select pg_listening_channels()"), []);
});

test("history is collected behind a pooler", { skip }, async (t) => {
  const passes: boolean[] = [];
  const { store, tenant } = await openBehind(t, {
    garbageCollection: { intervalMs: 1, windowMs: 1, timeoutMs: 60_000 },
    onCollected: ({ isComplete }) => void passes.push(isComplete),
  });
  const old = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await remove(store, tenant, { tuples: { ids: ["1"] } });
  const asked = { id: "1", permission: "view", subject: "a" };
  await until(async () =>
    allowed(store, tenant, { ...asked, at: old }).then(
      () => undefined,
      () => true,
    ),
  );
  await fails(allowed(store, tenant, { ...asked, at: old }), "SNAP_TOKEN_EXPIRED");
  assert.ok(passes.includes(true));
});

test("a question that is given up ends on the server, and no other does", { skip }, async (t) => {
  const { url } = await startPgbouncer(t, place.url);
  const database = await Database.connect({ url, pool, warn: () => {} });
  t.after(async () => await database.close());
  await sql`select pg_advisory_lock(41)`;
  const abort = new AbortController();
  const text = "select 1 as one from pg_advisory_xact_lock(41)";
  const left = fails(database.query(text, [], abort.signal), "CANCELLED");
  const stays = database.query(text, []);
  await untilWaiting(sql, 2);
  abort.abort();
  await left;
  await untilWaiting(sql, 1);
  await sql`select pg_advisory_unlock(41)`;
  assert.deepEqual([...(await stays)], [{ one: 1 }]);
});

test("servers that end under a pooler fail no read", { skip }, async (t) => {
  const { store, tenant } = await openBehind(t, { maxRetries: 10 });
  await write(store, tenant, { tuples: docs(1) });
  let isOver = false;
  const reading = Array.from({ length: 4 }, async () => {
    let answers = 0;
    while (!isOver) {
      const asked = { id: "0", permission: "view", subject: "a" };
      assert.equal(await allowed(store, tenant, asked), true);
      answers += 1;
    }
    return answers;
  });
  for (let ended = 0; ended < 20;) {
    const rows = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'pemba'
      order by random() limit 1`;
    ended += rows.length;
  }
  isOver = true;
  assert.ok((await Promise.all(reading)).every((answers) => answers > 0));
});

test(
  "a new connection plans nothing ahead behind a pooler",
  { skip: skipUnprepared },
  async (t) => {
    const { url } = await startPgbouncer(t, place.url, ["max_prepared_statements = 100"]);
    const line = await openLine(t, url);
    let greetings = 0;
    const database = await Database.connect({
      url: line.url,
      pool: { ...pool, maxConnections: 2, minConnections: 2 },
      warn: () => {},
      onGreeted: () => void (greetings += 1),
    });
    t.after(async () => await database.close());
    await until(async () => (database.pool.idle === 2 ? true : undefined));
    const usual = "select 'usual' as one, $1::integer as other";
    for (let time = 0; time < 5; time++) await database.query(usual, [time]);
    const prepared =
      "select name from pg_prepared_statements where statement like 'select ''usual''%'";
    assert.notDeepEqual(await onServers(url, prepared), []);
    const before = greetings;
    line.silenceAt("explain");
    line.cutOldest();
    await until(async () => (greetings > before && database.pool.opening === 0 ? true : undefined));
    assert.equal(database.pool.idle, 2);
  },
);

test("nothing of ours stays on the servers of a pooler", { skip }, async (t) => {
  const { store, tenant, url } = await openBehind(t, { watch: { readAheadMax: 10 } });
  for (let round = 0; round < 5; round++) {
    await write(store, tenant, { tuples: docs(3) });
    await allowed(store, tenant, { id: "1", permission: "view", subject: "a" });
  }
  const left = await onServers(
    url,
    `select name from pg_prepared_statements where name not like 'PGBOUNCER%'
     union all select locktype from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
     union all select name from pg_settings where source = 'session' and name <> 'application_name'`,
  );
  assert.deepEqual(left, []);
});

test(
  "settings that the route does not take are asked for, until the role has them",
  { skip },
  async (t) => {
    const ignored = "ignore_startup_parameters = " + Object.keys(sessionSettings).join(",");
    for (const lines of [[], [ignored]]) {
      const { warnings } = await openBehind(t, {}, lines);
      assert.equal(warnings.length, 1, warnings.join("\n"));
      assert.match(warnings[0] ?? "", /plan_cache_mode=force_generic_plan/);
    }
    const own = await createTestDatabase();
    t.after(async () => await own.drop());
    const settled = connect(own.url, 1);
    const name = new URL(own.url).pathname.slice(1);
    for (const [setting, value] of Object.entries(sessionSettings)) {
      await settled.unsafe(`alter database "${name}" set ${setting} = '${value}'`);
    }
    const { url } = await startPgbouncer(t, own.url);
    const store = await openStore(url);
    await store.close();
    await settled.unsafe(
      `alter database "${name}" set default_transaction_isolation = 'serializable'`,
    );
    await settled.end({ timeout: 1 });
    const { url: strict } = await startPgbouncer(t, own.url);
    await fails(openStore(strict, { warn: () => {} }), "MIGRATION", "read committed");
  },
);
