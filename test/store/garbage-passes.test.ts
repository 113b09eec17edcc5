/** Single passes over a database, with others in their way. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import type postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { collectGarbage, previewGarbage } from "../../src/store/postgres/garbage.ts";
import type { Store } from "../../src/store/store.ts";
import {
  allowed,
  fails,
  type OpenStore,
  openPostgres,
  pool,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { beginWrite, connect, until, untilLogIsOld, untilWaiting } from "./open-write.ts";

const hour = 3_600_000;
const everything = { windowMs: 1, timeoutMs: hour, byLog: true };
const view = { id: "1", permission: "view", subject: "a" };

let open: OpenStore & { readonly url: string };
let store: Store;
let database: Database;
let sql: postgres.Sql;
let tenant: TenantId;

before(async () => {
  open = await openPostgres();
  store = open.store;
  database = await Database.connect({ url: open.url, pool, warn: (text) => assert.fail(text) });
  sql = connect(open.url);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await database.close();
  await open.close();
});

beforeEach(async () => {
  await sql`truncate changes, horizons`;
  await sql`update installation set horizon = '0', collected_at = null`;
  tenant = await tenantWithSchema(store);
});

async function logged(): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from changes`;
  return row?.count ?? assert.fail();
}

/** What collectors note from time to time. */
async function note(): Promise<void> {
  await sql`
    insert into horizons
    select system_identifier, database_oid, clock_timestamp(),
      pg_snapshot_xmin(pg_current_snapshot())
    from installation
  `;
}

/** Makes what was written before older than the window, and older than any running transaction. */
async function age(): Promise<SnapToken> {
  await sql`select pg_current_xact_id()`;
  const token = await write(store, tenant, { tuples: [`doc:${++aged}#owner@user:age`] });
  await untilLogIsOld(sql);
  return token;
}
let aged = 1000;

test("the log of many tenants goes in batches, and what came after the horizon stays", async () => {
  const others = await Promise.all([1, 2, 3].map(async () => await tenantWithSchema(store)));
  await sql`
    insert into changes (tenant, xid, ordinal, operation, entity_type, entity_id, relation,
      subject_type, subject_id, subject_relation)
    select tenants.number, pg_current_xact_id(), ordinal, 'create', 'doc', ordinal::text, 'owner',
      'user', 'a', ''
    from tenants, generate_series(1, 4000) as ordinal
    where tenants.id = any(${others})
  `;
  await age();
  // Not the token of that write: a transaction of another test may have been open beside it.
  const kept = await write(store, tenant, {});
  const { expired, logged: all, horizon } = await previewGarbage(database, everything.windowMs);
  assert.deepEqual([expired, all], [12_000, 12_001]);

  const pass = await collectGarbage(database, everything);
  assert.equal(pass.removed, 12_000);
  assert.equal(pass.isComplete, true);
  assert.equal(await logged(), 1);
  const [row] = await sql<{ horizon: string }[]>`select horizon::text from installation`;
  assert.equal(row?.horizon, horizon);
  assert.equal(await allowed(store, tenant, { ...view, at: kept }), false);
});

test("a preview changes nothing", async () => {
  const token = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await age();
  const before = await sql`select * from installation`;
  assert.equal((await previewGarbage(database, 1)).expired, 1);
  assert.deepEqual([...(await sql`select * from installation`)], [...before]);
  assert.equal(await logged(), 2);
  assert.equal(await allowed(store, tenant, { ...view, at: token }), true);
});

test("tokens are refused before the first row goes", async () => {
  const token = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await age();
  await sql.begin(async (lock) => {
    await lock`lock table changes in share mode`;
    const pass = collectGarbage(database, everything);
    await untilWaiting(sql, 1);
    await fails(allowed(store, tenant, { ...view, at: token }), "SNAP_TOKEN_EXPIRED");
    assert.equal(await logged(), 2);
    // The lock ends with this transaction.
    void pass.catch(() => undefined);
  });
  await until(async () => ((await logged()) === 1 ? true : undefined));
});

test("a transaction that is open holds back the horizon for those that began after it", async () => {
  await write(store, tenant, { tuples: ["doc:1#owner@user:old"] });
  const slow = await beginWrite(sql, tenant, { tuples: ["doc:2#owner@user:a"] });
  const token = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await note();
  await collectGarbage(database, { ...everything, byLog: false });
  assert.equal(await allowed(store, tenant, { ...view, at: token }), true);
  await slow.commit();
  assert.equal(await allowed(store, tenant, { ...view, id: "2", at: token }), false);
  assert.equal(await allowed(store, tenant, { ...view, id: "2" }), true);
});

test("a token that was given out beside a long transaction stays good for the window", async () => {
  const slow = await beginWrite(sql, tenant, { tuples: ["doc:2#owner@user:a"] });
  await note();
  // The edge of the window lies between this reading and the token.
  await sql`update horizons set at = at - interval '2 hours'`;
  const token = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await slow.commit();
  await note();
  await collectGarbage(database, { windowMs: hour, timeoutMs: hour, byLog: false });
  const xid = must(slow.source.xid, "a write has a transaction");
  const [kept] = await sql`select horizon <= ${xid}::xid8 as is_before from installation`;
  // A transaction in another database of the server may hold it back further.
  assert.equal(kept?.["is_before"], true);
  assert.equal(await allowed(store, tenant, { ...view, at: token }), true);
  assert.equal(await allowed(store, tenant, { ...view, id: "2", at: token }), false);
});

test("a collector that finds another one at work leaves the rest to it", async () => {
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await age();
  await sql.begin(async (other) => {
    await other`select pg_advisory_xact_lock(lock_key(0, 1))`;
    const pass = await collectGarbage(database, everything);
    assert.deepEqual([pass.removed, pass.isComplete], [0, false]);
  });
  assert.equal((await collectGarbage(database, everything)).isComplete, true);
  assert.equal(await logged(), 1);
});

test("a pass whose time is over stops, and the next one goes on", async () => {
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await age();
  await sql.begin(async (lock) => {
    await lock`lock table changes in share mode`;
    const pass = await collectGarbage(database, { ...everything, timeoutMs: 50 });
    assert.deepEqual([pass.removed, pass.isComplete], [0, false]);
  });
  const [unfinished] = await sql`select collected_at from installation`;
  assert.equal(unfinished?.["collected_at"], null);
  assert.equal((await collectGarbage(database, everything)).removed, 1);
  const [finished] = await sql`select collected_at from installation`;
  assert.notEqual(finished?.["collected_at"], null);
});

test("closing the store ends a pass that is held up", async () => {
  const other = await openPostgres({
    garbageCollection: { intervalMs: 1, windowMs: 1, timeoutMs: hour },
  });
  const connection = connect(other.url);
  await connection.begin(async (lock) => {
    await lock`lock table horizons in access exclusive mode`;
    await untilWaiting(connection, 1);
    await other.store.close();
  });
  await connection.end({ timeout: 1 });
  await other.close();
});

test("readings of another cluster do not count here", async () => {
  const token = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await age();
  await note();
  await sql`update horizons set system_identifier = 'another'`;
  await collectGarbage(database, { ...everything, byLog: false });
  assert.equal(await allowed(store, tenant, { ...view, at: token }), true);
});

test("readings that no later pass needs are forgotten", async () => {
  for (let count = 0; count < 5; count++) await note();
  await until(async () => {
    await collectGarbage(database, { ...everything, byLog: false });
    return (await sql`select at from horizons`).length === 1 ? true : undefined;
  });
});

test("the horizon never goes back", async () => {
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await age();
  await collectGarbage(database, everything);
  const horizonOf = async (): Promise<unknown> =>
    (await sql`select horizon::text from installation`)[0]?.["horizon"];
  const reached = await horizonOf();
  await collectGarbage(database, { ...everything, windowMs: 10 * hour });
  assert.equal(await horizonOf(), reached);
});
