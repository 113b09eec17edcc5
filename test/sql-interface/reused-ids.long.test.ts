/**
 * Postgres is killed when ids of transactions were given out of which nothing is on disk, and gives them out
 * again. Tokens and streams from before must not take what comes then for what was there.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import type postgres from "postgres";

import { PembaError } from "../../src/base/error.ts";
import { emptyContext, type SnapToken, type TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { follow, textOf } from "../store/change-streams.ts";
import { attribute, openStore, tenantWithSchema, write } from "../store/engines.ts";
import { remove, tupleFilter } from "../store/filters.ts";
import { connect, until } from "../store/open-write.ts";
import { stateAt } from "../store/state.ts";
import { type RestartableServer, startRestartablePostgres } from "../support/postgres-binaries.ts";
import { interfaceOptions } from "./interface-scene.ts";

const postgresSettings = ["fsync=off", "autovacuum=off"];

const undoneIds = 20;

const owner = (id: string): string => `doc:${id}#owner@user:a`;
const limit = attribute("limit", { type: "integer", data: 1 });
const stored = [owner("0"), owner("1"), "doc:1$limit=1"].toSorted();

interface Scene {
  readonly server: RestartableServer;
  readonly store: Store;
  readonly sql: postgres.Sql;
  readonly tenant: TenantId;
}

async function openScene(t: TestContext): Promise<Scene> {
  const server = await startRestartablePostgres(postgresSettings);
  t.after(server.stop);
  await server.holdLog();
  const options = { sql: interfaceOptions, watch: { readAheadMax: 5 }, warn: () => {} };
  const store = await openStore(server.url, options);
  t.after(async () => await store.close());
  const sql = connect(server.url, 2);
  t.after(async () => await sql.end({ timeout: 1 }));
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [owner("0"), owner("1")], attributes: [limit] });
  return { server, store, sql, tenant };
}

async function takeId(inside: postgres.ISql): Promise<bigint> {
  const [row] = await inside<{ xid: string }[]>`select pg_current_xact_id()::text as xid`;
  return BigInt(row?.xid ?? assert.fail("no id"));
}

/** Takes ids and undoes their transactions. Resolves to the first one. */
async function takeIds(sql: postgres.Sql): Promise<bigint> {
  const first = await undo(sql, takeId);
  for (let count = 1; count < undoneIds; count++) await undo(sql, takeId);
  return first;
}

class Undone extends Error {}

/** Runs a transaction and undoes it. */
async function undo<T>(
  sql: postgres.Sql,
  work: (inside: postgres.TransactionSql) => Promise<T>,
): Promise<T> {
  let made: { readonly result: T } | undefined;
  const running = sql.begin(async (inside) => {
    made = { result: await work(inside) };
    throw new Undone();
  });
  await assert.rejects(running, Undone);
  return made?.result ?? assert.fail("it did not run");
}

async function crash({ server, sql }: Scene): Promise<void> {
  await server.signal("SIGKILL", "all");
  await server.halt();
  await server.restart();
  // The first statement may still meet a connection that is gone.
  await until(async () => await sql`select 1`.then(() => true).catch(() => undefined));
}

/** Whether a transaction with an id from `first` to `last` has logged something. */
async function isLogged(sql: postgres.Sql, first: bigint, last = first): Promise<boolean> {
  const rows = await sql`
    select from changes
    where ordinal = 0 and xid between ${String(first)}::xid8 and ${String(last)}::xid8`;
  return rows.length > 0;
}

async function tokenOf(inside: postgres.ISql, tenant: TenantId): Promise<SnapToken> {
  const [row] = await inside<{ token: SnapToken }[]>`select pemba.token(${tenant})`;
  return row?.token ?? assert.fail("no token");
}

/**
 * What changes nothing, but may bring the write-ahead log to disk: a commit does when a statement of its
 * transaction has tidied up a page of a table.
 */
const writers: Readonly<Record<string, (scene: Scene) => Promise<SnapToken>>> = {
  "a write of a tuple that is there": async ({ store, tenant }) =>
    await write(store, tenant, { tuples: [owner("1")] }),
  "a change that has nothing to do": async ({ store, tenant }) =>
    await store.data.change(tenant, {
      schemaVersion: undefined,
      preconditions: [],
      tupleFilters: [],
      attributeFilters: [],
      tuples: [],
      attributes: [limit],
    }),
};

/** What gives a token of the present state, and writes nothing that has to be kept. */
const readers: Readonly<Record<string, (scene: Scene) => Promise<SnapToken>>> = {
  "a page of tuples": async ({ store, tenant }) =>
    (
      await store.data.readTuples(tenant, {
        filter: tupleFilter({ type: "doc" }),
        snapToken: undefined,
        after: undefined,
        limit: 1,
      })
    ).snapToken,
  "a page of a lookup": async ({ store, tenant }) =>
    (
      await store.lookups.entities(tenant, {
        snapToken: undefined,
        schemaVersion: undefined,
        after: undefined,
        limit: 1,
        depth: 20,
        context: emptyContext,
        entityType: "doc",
        permission: "view",
        subject: { type: "user", id: "a", relation: "" },
        scope: new Map(),
      })
    ).snapToken,
  "an explanation": async ({ store, tenant }) =>
    (
      await store.permissions.explain(tenant, {
        snapToken: undefined,
        schemaVersion: undefined,
        depth: 20,
        context: emptyContext,
        item: {
          entity: { type: "doc", id: "1" },
          permission: "view",
          subject: { type: "user", id: "a", relation: "" },
          arguments: [],
        },
      })
    ).snapToken,
  "a write of an attribute that is there": async ({ store, tenant }) =>
    await write(store, tenant, { attributes: [limit] }),
  "a delete that finds nothing": async ({ store, tenant }) =>
    await remove(store, tenant, { tuples: { type: "doc", ids: ["none"] } }),
  "pemba.token": async ({ sql, tenant }) => await tokenOf(sql, tenant),
  "pemba.token in a transaction that writes nothing of the tenant": async ({ sql, tenant }) =>
    await undo(sql, async (inside) => {
      await takeId(inside);
      return await tokenOf(inside, tenant);
    }),
};

/** Resolves when the poller of streams has seen what is committed or undone by now. */
async function untilPolled(sql: postgres.Sql): Promise<void> {
  const [now] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`;
  // The second poll begins when the first one has been dealt with.
  const begun = new Set<string>();
  await until(async () => {
    const polls = await sql<{ at: string }[]>`
      select query_start::text as at from pg_stat_activity
      where query like '%as changed,%' and query_start > ${now?.at ?? ""}::timestamptz
        and pid <> pg_backend_pid()
    `;
    for (const { at } of polls) begun.add(at);
    return begun.size >= 2 ? true : undefined;
  });
}

/** Follows from a token on, over outages. Resolves to the next changes. */
async function nextChanges(
  { store, tenant }: Scene,
  { after, count }: { readonly after: SnapToken; readonly count: number },
): Promise<readonly string[]> {
  const texts: string[] = [];
  let token = after;
  while (texts.length < count) {
    await insist(async () => {
      const follower = await follow(store, tenant, token);
      try {
        while (texts.length < count) {
          const message = await follower.next();
          token = message.snapToken;
          texts.push(...textOf(message));
        }
      } finally {
        await follower.leave();
      }
    });
  }
  return texts;
}

/** Calls until the database is there. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  return await until(async () => {
    try {
      return { result: await work() };
    } catch (error) {
      if (error instanceof PembaError && error.code === "UNAVAILABLE") return undefined;
      throw error;
    }
  }).then(({ result }) => result);
}

test("tokens and streams from before a crash show nothing of what gets the lost ids after it", async (t) => {
  const scene = await openScene(t);
  const { store, sql, tenant } = scene;
  const follower = await follow(store, tenant);
  // It goes on by itself, or fails and is taken up again.
  const goingOn = follower
    .next()
    .then((message) => textOf(message))
    .catch(() => undefined);
  const given = new Map<string, SnapToken>();
  await takeIds(sql);
  for (const [name, give] of Object.entries(writers)) given.set(name, await give(scene));
  const lost = await takeIds(sql);
  for (const [name, give] of Object.entries(readers)) given.set(name, await give(scene));
  await untilPolled(sql);
  const place = follower.delivered();
  given.set("a stream", place);
  const end = await undo(sql, takeId);
  await crash(scene);

  const added = ["5", "6", "7"].map(owner);
  for (const text of added) {
    await insist(async () => await write(store, tenant, { tuples: [text] }));
  }
  assert.ok(await isLogged(sql, lost, end), "no id was given out again");
  // Until nothing from before names the future.
  while ((await undo(sql, takeId)) < end);
  for (const [name, token] of given) {
    assert.deepEqual(await stateAt(store, tenant, token), stored, name);
  }
  const told = await nextChanges(scene, { after: place, count: added.length });
  assert.deepEqual(
    told,
    added.map((text) => `+${text}`),
  );
  const first = await goingOn;
  assert.ok(first === undefined || first[0] === told[0]);
  await follower.leave();
});

test("a token of a transaction that a crash undid does not name another one with the same id", async (t) => {
  const scene = await openScene(t);
  const { store, sql, tenant } = scene;
  const open = await sql.reserve();
  await open`begin`;
  const own = await takeId(open);
  await open`select pemba.write_tuple(${tenant}, 'doc', '5', 'owner', 'user', 'a')`;
  const lost = await tokenOf(open, tenant);
  await takeIds(sql);
  const undone = await undo(sql, async (inside) => {
    await inside`select pemba.write_tuple(${tenant}, 'doc', '6', 'owner', 'user', 'a')`;
    return await tokenOf(inside, tenant);
  });
  assert.deepEqual(await stateAt(store, tenant, undone), stored);
  await crash(scene);

  while ((await undo(sql, takeId)) !== own - 1n);
  await sql`select pemba.write_tuple(${tenant}, 'doc', '5', 'owner', 'user', 'a')`;
  assert.ok(await isLogged(sql, own), "the id was not given out again");
  for (const token of [lost, undone]) {
    const reading = insist(async () => await stateAt(store, tenant, token));
    await assert.rejects(reading, { code: "INVALID_SNAP_TOKEN" });
  }
});
