/** Moves beside other movers, deletions, databases that are not those of the clusters, and silent ones. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import type { MoveDatabase } from "../../src/store/placed/move/notes.ts";
import type { Store } from "../../src/store/store.ts";
import { openLine } from "../support/line.ts";
import { type Mover, openMover } from "../support/moves.ts";
import type { PlacedDatabases } from "../support/placed-databases.ts";
import {
  allowed,
  attribute,
  fails,
  openPlaced,
  schemaText,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { connect, until, untilWaiting } from "./open-write.ts";

let placed: PlacedDatabases;
let store: Store;
let mover: Mover;
let sql: Readonly<Record<"a" | "b" | "c", postgres.Sql>>;

before(async () => {
  placed = await openPlaced();
  store = placed.store;
  mover = await openMover(placed.urls);
  const [a = "", b = "", c = ""] = placed.urls;
  sql = { a: connect(a, 2), b: connect(b, 2), c: connect(c, 2) };
});

after(async () => {
  await mover.close();
  await Promise.all(Object.values(sql).map(async (one) => await one.end({ timeout: 1 })));
  await placed.close();
});

/** On which clusters the tenant is served. */
async function servedOn(id: TenantId): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, one] of Object.entries(sql)) {
    if ((await one`select from tenants where id = ${id}`).length > 0) found.push(name);
  }
  return found;
}

async function placementOf(id: TenantId): Promise<unknown> {
  const [row] = await sql.a`select cluster, state from placements where tenant = ${id}`;
  return row && { ...row };
}

/** What is noted of moves of the tenant, besides that it has moved. */
async function notesOf(id: TenantId): Promise<number> {
  let notes = (await sql.a`select from moves where tenant = ${id} and step <> 'ended'`).length;
  for (const one of Object.values(sql)) {
    notes += (await one`select from departures where id = ${id}`).length;
    notes += (await one`select from arrivals where id = ${id}`).length;
  }
  return notes;
}

async function filled(): Promise<TenantId> {
  const tenant = await tenantWithSchema(store, "b");
  await write(store, tenant, {
    tuples: ["doc:1#owner@user:ann"],
    attributes: [attribute("public", { type: "boolean", data: false })],
  });
  return tenant;
}

/** Does something once, before the first statement that has this text. */
function onceBefore(
  text: string,
  work: () => Promise<void>,
): (database: MoveDatabase) => MoveDatabase {
  let isDone = false;
  return (database) => ({
    query: async (statement, values, signal) => {
      if (!isDone && statement.includes(text)) {
        isDone = true;
        await work();
      }
      return await database.query(statement, values, signal);
    },
  });
}

test("a tenant that is deleted and created anew while it is copied can be deleted again", async () => {
  const tenant = await filled();
  const move = mover.run({
    tenant,
    to: "c",
    through: onceBefore("pg_relation_filenode", async () => {
      await store.tenants.delete(tenant);
      await store.tenants.create({ id: tenant, name: "", cluster: "b" });
    }),
  });
  await fails(move, "TENANT_NOT_FOUND");
  assert.deepEqual(await placementOf(tenant), { cluster: "b", state: "placed" });
  await store.schemas.write(tenant, { text: schemaText });
  await mover.run({ tenant, to: "c" });
  assert.deepEqual(await servedOn(tenant), ["c"]);
  await store.tenants.delete(tenant);
  assert.deepEqual([await servedOn(tenant), await placementOf(tenant)], [[], undefined]);
});

test("a mover that was taken for gone leaves the tenant to the one that moves it", async () => {
  const tenant = await filled();
  const [stopped, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // The source refuses the tenant by then.
  const pausedAt = (text: string, until: Promise<void>, then: () => void) =>
    onceBefore(text, async () => {
      then();
      await until;
    });
  const late = mover.run({
    tenant,
    to: "c",
    through: pausedAt("jsonb_build_object('made'", resumed.promise, stopped.resolve),
  });
  await Promise.race([stopped.promise, late]);
  await mover.recover();
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const next = mover.run({
    tenant,
    to: "c",
    leaseMs: 0,
    through: pausedAt("set step = 'switched'", ended.promise, begun.resolve),
  });
  await Promise.race([begun.promise, next]);
  resumed.resolve();
  await fails(late, "SERIALIZATION");
  assert.deepEqual(await servedOn(tenant), []);
  ended.resolve();
  await next;
  assert.deepEqual(await servedOn(tenant), ["c"]);
  assert.equal(await notesOf(tenant), 0);
});

/** A move that stops before its first statement with this text, and goes on when it is told to. */
function heldMove(tenant: TenantId, text: string, leaseMs?: number) {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const through = onceBefore(text, async () => {
    held.resolve();
    await released.promise;
  });
  const move = mover.run({ tenant, to: "c", through, ...(leaseMs !== undefined && { leaseMs }) });
  move.catch(() => undefined);
  return { move, held: Promise.race([held.promise, move]), release: released.resolve };
}

test("a mover that was taken for gone does not keep the source of a move from giving up its rows", async () => {
  const tenant = await filled();
  const late = heldMove(tenant, "insert into departures");
  await late.held;
  const next = heldMove(tenant, "set step = 'switched'", 0);
  await next.held;
  late.release();
  await fails(late.move, "SERIALIZATION");
  next.release();
  await next.move;
  assert.deepEqual(await servedOn(tenant), ["c"]);
  assert.equal(await notesOf(tenant), 0);
});

test("a move that cannot have the source give up its rows is ended by the next process", async () => {
  const tenant = await filled();
  const late = heldMove(tenant, "insert into departures");
  await late.held;
  const next = heldMove(tenant, "delete from departures", 0);
  await next.held;
  late.release();
  await fails(late.move, "SERIALIZATION");
  next.release();
  await fails(next.move, "SERIALIZATION");
  assert.deepEqual(await servedOn(tenant), ["c"]);
  await mover.recover();
  assert.equal(await notesOf(tenant), 0);
});

test("what a mover notes at the source or the target after its move has ended is removed", async () => {
  for (const text of ["insert into departures", "expect_tenant"]) {
    const tenant = await filled();
    const late = heldMove(tenant, text);
    await late.held;
    await mover.revert(tenant);
    assert.equal(await notesOf(tenant), 0);
    late.release();
    await fails(late.move, "SERIALIZATION");
    assert.equal(await notesOf(tenant), 1);
    await mover.removeStrays();
    assert.equal(await notesOf(tenant), 0);
    assert.deepEqual(await servedOn(tenant), ["b"]);
  }
});

test("what is noted of a move that is under way is no stray", async () => {
  const tenant = await filled();
  const move = heldMove(tenant, "set step = 'switched'");
  await move.held;
  await mover.removeStrays();
  move.release();
  await move.move;
  assert.deepEqual(await servedOn(tenant), ["c"]);
});

test("a move is refused to a cluster that has a tenant with this id which is not listed", async () => {
  const tenant = await filled();
  await sql.c`insert into tenants (id, name) values (${tenant}, 'other')`;
  await fails(mover.run({ tenant, to: "c" }), "UNIQUE_CONSTRAINT");
  assert.equal(await allowed(store, tenant, { id: "1", permission: "view", subject: "ann" }), true);
  assert.deepEqual(await placementOf(tenant), { cluster: "b", state: "placed" });
});

test("a database that falls silent while the source refuses the tenant ends the stop", async (t) => {
  const lines = await Promise.all(placed.urls.map(async (url) => await openLine(t, url)));
  const far = await openMover(lines.map(({ url }) => url));
  t.after(async () => await far.close());
  const tenant = await filled();
  const move = far.run({
    tenant,
    to: "c",
    stopMs: 300,
    through: onceBefore("progress || jsonb_build_object", async () => lines[2]?.silence("all")),
  });
  await fails(move, "UNAVAILABLE");
  assert.deepEqual(await servedOn(tenant), ["b"]);
});

test("rows are counted anew if a standby was promoted since they were counted", async () => {
  for (const cluster of ["b", "c"]) {
    const tenant = await filled();
    let isPromoted = false;
    const through = (database: MoveDatabase, name: string): MoveDatabase => ({
      query: async (statement, values, signal) => {
        isPromoted ||= statement.includes("hide_tenant");
        const rows = await database.query(statement, values, signal);
        const isTold = isPromoted && name === cluster && statement.includes("as timeline");
        return isTold ? rows.map((row) => ({ ...row, timeline: 2 })) : rows;
      },
    });
    await fails(mover.run({ tenant, to: "c", through }), "UNAVAILABLE", "promoted");
    assert.deepEqual(await servedOn(tenant), ["b"]);
    await mover.run({ tenant, to: "c", leaseMs: 0 });
    assert.deepEqual(await servedOn(tenant), ["c"]);
  }
});

test("a source that refuses the tenant late, over a connection that was lost, does nothing", async (t) => {
  const lines = await Promise.all(placed.urls.map(async (url) => await openLine(t, url)));
  const [, line] = lines;
  assert.ok(line !== undefined);
  const far = await openMover(lines.map(({ url }) => url));
  t.after(async () => await far.close());
  const tenant = await filled();
  const [isHeld, isWritten] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // The lock that a write of the tenant has until its end.
  const writing = sql.b.begin(async (transaction) => {
    await transaction`
      select pg_advisory_xact_lock_shared(lock_key(number, 0)) from tenants where id = ${tenant}`;
    isHeld.resolve();
    await isWritten.promise;
  });
  await isHeld.promise;
  const waiting = async (): Promise<number> =>
    (
      await sql.c`
        select from pg_stat_activity
        where state = 'active' and wait_event_type = 'Lock' and query like '%hide_tenant(%'`
    ).length;
  const move = far.run({
    tenant,
    to: "c",
    stopMs: 60_000,
    through: (database) => ({
      query: async (statement, values, signal) => {
        const rows = database.query(statement, values, signal);
        if (statement.includes("hide_tenant")) {
          await until(async () => ((await waiting()) > 0 ? true : undefined));
          await line.cut();
          await line.mend();
        }
        return await rows;
      },
    }),
  });
  await fails(move, "UNAVAILABLE");
  isWritten.resolve();
  await writing;
  await until(async () => ((await waiting()) === 0 ? true : undefined));
  // It has the lock now, and ends.
  await sql.b`select pg_advisory_xact_lock(lock_key(number, 0)) from departures where id = ${tenant}`;
  assert.deepEqual(await servedOn(tenant), ["b"]);
});

test("a request that meets the end of a stop which is taken back finds the tenant", async () => {
  const tenant = await filled();
  const { promise: stopped, resolve: isStopped } = Promise.withResolvers<void>();
  const { promise: ended, reject: end } = Promise.withResolvers<void>();
  const move = mover.run({
    tenant,
    to: "c",
    through: onceBefore("jsonb_build_object('made'", async () => {
      isStopped();
      await ended;
    }),
  });
  move.catch(() => undefined);
  await Promise.race([stopped, move]);
  const answer = await sql.a.begin(async (transaction) => {
    await transaction`lock table placements in access exclusive mode`;
    // The source does not have it. The directory is asked then, and says where it is too late.
    const asked = allowed(store, tenant, { id: "1", permission: "view", subject: "ann" });
    asked.catch(() => undefined);
    await untilWaiting(sql.a, 1);
    await sql.b`select show_tenant(number, mover) from departures where id = ${tenant}`;
    await transaction`
      update placements set state = 'placed', version = default where tenant = ${tenant}`;
    return { asked };
  });
  assert.equal(await answer.asked, true);
  end(new Error("killed"));
  await assert.rejects(move);
  await mover.revert(tenant);
  assert.deepEqual(await servedOn(tenant), ["b"]);
});
