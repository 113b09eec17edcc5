/**
 * A standby that follows asynchronously answers what it can. Its replay is stopped and its transactions
 * are held open, so that what it lacks is known: a state that it has not reached must never be read
 * from it.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import { noTelemetry } from "../../src/base/telemetry.ts";
import { emptyContext, type SnapToken, type TenantId } from "../../src/base/tuple.ts";
import type { LookupPage, Store } from "../../src/store/store.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { openLine } from "../support/line.ts";
import { allowed, openStore, pool, tenantWithSchema, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { beginWrite, until } from "./open-write.ts";
import { asked, leftOut, owner, type Replicated, startReplicated } from "./replicated.ts";
import { stateAt } from "./state.ts";

let servers: Replicated;
let sql: postgres.Sql;
let following: postgres.Sql;

before(async () => {
  servers = await startReplicated();
  ({ sql, following } = servers);
});

after(async () => {
  await servers.stop();
});

async function firstPage(store: Store, tenant: TenantId, at?: SnapToken): Promise<LookupPage> {
  return await store.lookups.subjects(tenant, {
    schemaVersion: undefined,
    snapToken: at,
    depth: 100,
    context: emptyContext,
    entity: { type: "doc", id: "1" },
    permission: "view",
    arguments: [],
    subjectType: "user",
    subjectRelation: "",
    after: undefined,
    limit: 10,
  });
}

test("a snapshot of a standby does not tell which transactions are running", async () => {
  const store = await openStore(servers.url);
  const tenant = await tenantWithSchema(store);
  const open = await beginWrite(sql, tenant, { tuples: owner("a") });
  await write(store, tenant, { tuples: ["doc:2#owner@user:b"] });
  await servers.caughtUp();
  const state = "select pg_current_snapshot()::text as text";
  const [here, there] = await Promise.all([sql.unsafe(state), following.unsafe(state)]);
  assert.match(String(here[0]?.["text"]), /^\d+:\d+:\d+/);
  assert.match(String(there[0]?.["text"]), /^\d+:\d+:$/);
  await open.undo();
  await store.close();
});

test("a question goes to the replica, and one of a state that it lacks to the writer", async (t) => {
  const { store, tenant } = await servers.open(t);
  const resume = await servers.pauseReplay(t);
  const token = await write(store, tenant, { tuples: owner("new") });
  assert.equal(await allowed(store, tenant, asked("new")), false);
  assert.equal(await allowed(store, tenant, asked("new", token)), true);
  const before = await firstPage(store, tenant);
  assert.deepEqual(before.items, []);
  assert.deepEqual((await firstPage(store, tenant, token)).items, ["new"]);
  assert.deepEqual(await stateAt(store, tenant, undefined), []);
  assert.deepEqual(await stateAt(store, tenant, token), owner("new"));
  await resume();
  assert.equal(await allowed(store, tenant, asked("new")), true);
  const alone = await openStore(servers.url);
  t.after(async () => await alone.close());
  assert.deepEqual((await firstPage(alone, tenant, before.snapToken)).items, []);
});

test("a question of a state that the replica has reached needs no writer", async (t) => {
  const line = await openLine(t, servers.url);
  const { store, tenant } = await servers.open(t, { url: line.url, maxRetries: 0 });
  const first = await write(store, tenant, { tuples: owner("a") });
  const second = await remove(store, tenant, { tuples: { ids: ["1"] } });
  await allowed(store, tenant, asked("a"));
  await servers.caughtUp();
  // It is known of the replica after the next look at it.
  await line.cut();
  await until(async () =>
    allowed(store, tenant, asked("a", second)).then(
      () => true,
      () => undefined,
    ),
  );
  assert.equal(await allowed(store, tenant, asked("a", first)), true);
  assert.equal(await allowed(store, tenant, asked("a", second)), false);
  assert.equal(await allowed(store, tenant, asked("a")), false);
  assert.deepEqual(await stateAt(store, tenant, first), owner("a"));
  await line.mend();
});

test("a read of an own write misses nothing, however the replay stops and goes on", async (t) => {
  const { store, tenant } = await servers.open(t);
  for (let round = 0; round < 40; round++) {
    if (round % 8 === 0) await servers.pause();
    if (round % 8 === 4) await servers.resume();
    const name = `u${round}`;
    const token = await write(store, tenant, { tuples: owner(name) });
    assert.equal(await allowed(store, tenant, asked(name, token)), true, name);
    const gone = await remove(store, tenant, { tuples: { ids: ["1"] } });
    assert.equal(await allowed(store, tenant, asked(name, gone)), false, name);
    assert.equal(await allowed(store, tenant, asked(name, token)), true, name);
  }
});

test("a token of a state that was read from the replica names that state on every server", async (t) => {
  const { store, tenant } = await servers.open(t);
  const other = await tenantWithSchema(store);
  const alone = await openStore(servers.url);
  t.after(async () => await alone.close());
  await write(store, tenant, { tuples: owner("a") });
  await write(store, other, { tuples: owner("x") });
  // Has a lower id than what is committed after it, and is running on the standby.
  const open = await beginWrite(sql, tenant, { tuples: owner("late") });
  await write(store, tenant, { tuples: owner("b") });
  await servers.caughtUp();
  const page = await firstPage(store, tenant);
  assert.deepEqual(page.items, ["a", "b"]);
  const quiet = await firstPage(store, other);
  assert.deepEqual(quiet.items, ["x"]);
  await open.commit();
  await write(store, tenant, { tuples: owner("c") });
  await write(store, other, { tuples: owner("y") });
  await servers.caughtUp();
  for (const each of [alone, store]) {
    assert.deepEqual((await firstPage(each, tenant, page.snapToken)).items, ["a", "b"]);
    assert.deepEqual((await firstPage(each, other, quiet.snapToken)).items, ["x"]);
  }
  assert.deepEqual((await firstPage(alone, tenant)).items, ["a", "b", "c", "late"]);
});

test("pages stay with the state of the first, wherever that was read", async (t) => {
  const { store, tenant } = await servers.open(t);
  const ids = Array.from({ length: 9 }, (_, index) => `doc:1#owner@user:u${index}`);
  await write(store, tenant, { tuples: ids });
  await servers.caughtUp();
  const first = await firstPage(store, tenant);
  assert.equal(first.items.length, 9);
  await remove(store, tenant, { tuples: { ids: ["1"] } });
  await servers.caughtUp();
  for (let turn = 0; turn < 3; turn++) {
    assert.equal((await firstPage(store, tenant, first.snapToken)).items.length, 9);
  }
  assert.deepEqual((await firstPage(store, tenant)).items, []);
});

test("the head of a schema is never older than what this instance has seen", async (t) => {
  const { store, tenant } = await servers.open(t);
  await write(store, tenant, { tuples: owner("a") });
  await servers.caughtUp();
  assert.equal(await allowed(store, tenant, asked("a")), true);
  const resume = await servers.pauseReplay(t);
  const text = `entity user {} entity doc { relation owner @user relation banned @user
    permission view = owner not owner }`;
  await store.schemas.write(tenant, { text });
  assert.equal(await allowed(store, tenant, asked("a")), false);
  const made = await tenantWithSchema(store);
  assert.equal(await allowed(store, made, asked("a")), false);
  await resume();
  assert.equal(await allowed(store, tenant, asked("a")), false);
});

test("a replica that goes fails no question, and is asked again when it comes", async (t) => {
  const line = await openLine(t, servers.standbyUrl);
  const { store, tenant, warnings, news } = await servers.open(t, {
    replicaUrl: line.url,
    maxRetries: 0,
  });
  await write(store, tenant, { tuples: owner("a") });
  await servers.caughtUp();
  let isOver = false;
  const reading = Array.from({ length: 4 }, async () => {
    let answers = 0;
    for (; !isOver; answers++) assert.equal(await allowed(store, tenant, asked("a")), true);
    return answers;
  });
  for (let turn = 1; turn <= 3; turn++) {
    await line.cut();
    await until(async () => (leftOut(warnings) === turn ? true : undefined));
    await line.mend();
    await until(async () => (news.length === turn ? true : undefined));
  }
  isOver = true;
  assert.ok((await Promise.all(reading)).every((answers) => answers > 0));
  // It is the replica that answers again.
  const resume = await servers.pauseReplay(t);
  await write(store, tenant, { tuples: owner("new") });
  assert.equal(await allowed(store, tenant, asked("new")), false);
  await resume();
});

test("a question that is ended on the replica is asked of the writer", async (t) => {
  const slow = await servers.open(t, { readTimeoutMs: 2_000 });
  const ended = await servers.open(t);
  for (const { store, tenant } of [slow, ended]) {
    await write(store, tenant, { tuples: owner("a") });
    await allowed(store, tenant, asked("a"));
  }
  // The lock stays on the standby, for its end is not replayed.
  await sql.begin(async (open) => {
    await open`lock table relationships in access exclusive mode`;
    await servers.caughtUp();
    await servers.pauseReplay(t);
  });
  assert.equal(await allowed(slow.store, slow.tenant, asked("a")), true);
  const answer = allowed(ended.store, ended.tenant, asked("a"));
  await until(async () => {
    const rows = await following`select pg_cancel_backend(pid) from pg_stat_activity
      where application_name = 'pemba' and wait_event_type = 'Lock'`;
    return rows.length === 1 ? true : undefined;
  });
  assert.equal(await answer, true);
});

test("as many checks run as the connections to all replicas take", async (t) => {
  const { host } = new URL(servers.url);
  const twice = servers.url.replace(host, `${host},${host}`);
  const { store, tenant } = await servers.open(t, {
    // The writer itself, by another name of it.
    replicaUrl: `${twice}?application_name=pemba-reader`,
    pool: { ...pool, maxConnections: 2 },
    slots: 1,
  });
  await write(store, tenant, { tuples: owner("a") });
  await allowed(store, tenant, asked("a"));
  const answers = await sql.begin(async (open) => {
    await open`lock table relationships in access exclusive mode`;
    const first = allowed(store, tenant, asked("a"));
    const second = allowed(store, tenant, { ...asked("b"), id: "2" });
    await until(async () => {
      const rows = await sql`select from pg_stat_activity where wait_event_type = 'Lock'`;
      return rows.length === 2 ? true : undefined;
    });
    return { first, second };
  });
  assert.deepEqual([await answers.first, await answers.second], [true, false]);
});

test("kept answers of a state that the replica has reached need no writer", async (t) => {
  const line = await openLine(t, servers.url);
  const hits: number[] = [];
  const { store, tenant } = await servers.open(t, {
    url: line.url,
    maxRetries: 0,
    cache: { maxBytes: 1_000_000, maxEntries: 1_000 },
    telemetry: {
      ...noTelemetry,
      add: (name, amount) => {
        if (name === "pemba.answer.cache.hits") hits.push(amount);
      },
    },
  });
  const at = await write(store, tenant, { tuples: owner("a") });
  await servers.caughtUp();
  await until(async () => {
    assert.equal(await allowed(store, tenant, asked("a", at)), true);
    return hits.length > 0 ? true : undefined;
  });
  await line.cut();
  // It is known of the replica after the next look at it.
  await until(async () => allowed(store, tenant, asked("a", at)).catch(() => undefined));
  const before = hits.length;
  assert.equal(await allowed(store, tenant, asked("a", at)), true);
  assert.equal(hits.length, before + 1);
  await line.mend();
});

test("kept answers go with no older head than this instance has seen", async (t) => {
  const { store, tenant } = await servers.open(t, {
    cache: { maxBytes: 1_000_000, maxEntries: 1_000 },
  });
  const at = await write(store, tenant, { tuples: owner("a") });
  await servers.caughtUp();
  const ask = async (): Promise<boolean> => await allowed(store, tenant, asked("a", at));
  for (let turn = 0; turn < 3; turn++) assert.equal(await ask(), true);
  const resume = await servers.pauseReplay(t);
  const text = `entity user {} entity doc { relation owner @user relation banned @user
    permission view = owner not owner }`;
  await store.schemas.write(tenant, { text });
  for (let turn = 0; turn < 3; turn++) assert.equal(await ask(), false);
  await resume();
  assert.equal(await ask(), false);
});

test("a replica that is not there at the start is a warning, and one that comes is asked", async (t) => {
  const line = await openLine(t, servers.standbyUrl);
  await line.cut();
  const { store, tenant, warnings, news } = await servers.open(t, { replicaUrl: line.url });
  assert.equal(leftOut(warnings), 1, warnings.join("\n"));
  assert.ok(!warnings.some((text) => text.includes("postgres@")));
  await write(store, tenant, { tuples: owner("a") });
  assert.equal(await allowed(store, tenant, asked("a")), true);
  await line.mend();
  await until(async () => (news.length === 1 ? true : undefined));
  assert.match(news.join("\n"), /^the standby `.*` is asked$/);
  assert.equal(warnings.length, 1);
});

test("a server of another cluster is not asked", async (t) => {
  const stranger = await createMigratedDatabase();
  t.after(async () => await stranger.drop());
  await (await openStore(stranger.url)).close();
  const { store, tenant, warnings } = await servers.open(t, { replicaUrl: stranger.url });
  assert.match(warnings.join("\n"), /another cluster/);
  await write(store, tenant, { tuples: owner("a") });
  assert.equal(await allowed(store, tenant, asked("a")), true);
});

test("the writer may stand among the replicas", async (t) => {
  const both = `${servers.url.replace(/\/postgres$/, "")},${new URL(servers.standbyUrl).host}/postgres`;
  const { store, tenant, warnings } = await servers.open(t, { replicaUrl: both });
  assert.deepEqual(warnings, []);
  const token = await write(store, tenant, { tuples: owner("a") });
  await servers.caughtUp();
  for (let turn = 0; turn < 6; turn++) {
    assert.equal(await allowed(store, tenant, asked("a")), true);
    assert.equal(await allowed(store, tenant, asked("a", token)), true);
  }
});

test("how far a replica is behind is told", async (t) => {
  const readings = new Map<string, () => readonly { readonly value: number }[]>();
  const { store, tenant } = await servers.open(t, {
    telemetry: { ...noTelemetry, observe: (name, read) => void readings.set(name, read) },
  });
  const lag = (): number | undefined => readings.get("db.client.replica.lag")?.()[0]?.value;
  await until(async () => (lag() === 0 ? true : undefined));
  const resume = await servers.pauseReplay(t);
  await write(store, tenant, { tuples: owner("a") });
  await until(async () => ((lag() ?? 0) > 0.5 ? true : undefined));
  await resume();
  await until(async () => (lag() === 0 ? true : undefined));
});

test("a standby that became a server of its own is not asked any more", async (t) => {
  const { store, tenant, warnings } = await servers.open(t);
  await write(store, tenant, { tuples: owner("a") });
  await servers.caughtUp();
  await following`select pg_promote()`;
  await until(async () => (leftOut(warnings) === 1 ? true : undefined));
  assert.match(warnings.join("\n"), /follows no server/);
  await remove(store, tenant, { tuples: { ids: ["1"] } });
  assert.equal(await allowed(store, tenant, asked("a")), false);
});
