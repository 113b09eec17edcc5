/** How streams of one database get along with each other, with it, and with other instances. */
import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test, type TestContext } from "node:test";

import type postgres from "postgres";

import { Caller, forCaller, presentCaller } from "../../src/base/caller.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { decodeSnapToken } from "../../src/store/postgres/token/snap-token-codec.ts";
import { Listener } from "../../src/store/postgres/watch/change-notifier.ts";
import type { Store } from "../../src/store/store.ts";
import { openLine } from "../support/line.ts";
import { snapMac } from "../support/token-key.ts";
import { type Follower, follow, stateAt, textOf } from "./change-streams.ts";
import {
  allowed,
  fails,
  openPostgres,
  openStore,
  pool,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { beginWrite, connect, until } from "./open-write.ts";

const watch = { readAheadMax: 100 };

interface Counted {
  readonly store: Store;
  readonly url: string;
  readonly sql: postgres.Sql;
  /** How many statements have begun with a text so far. */
  readonly count: (start: string) => number;
}

const poll = "-- Returns what has happened since";
const page = "-- Returns the changes of tenant number";
const announcement = "-- Wakes everybody";
const removal = "-- The process $1 removes the rows of al";

async function start(t: TestContext, maxConnections = 8): Promise<Counted> {
  const statements: string[] = [];
  const { store, url, close } = await openPostgres({
    watch,
    pool: { ...pool, maxConnections },
    onStatement: (text) => statements.push(text),
  });
  const sql = connect(url);
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await close();
  });
  const count = (text: string): number => statements.filter((it) => it.startsWith(text)).length;
  return { store, url, sql, count };
}

async function followers(
  t: TestContext,
  store: Store,
  tenant: TenantId,
  count: number,
): Promise<readonly Follower[]> {
  const all = await Promise.all(Array.from({ length: count }, () => follow(store, tenant)));
  t.after(async () => await Promise.all(all.map((follower) => follower.leave())));
  return all;
}

test("fifty who wait for changes of a tenant cost the polls of one", async (t) => {
  const [one, fifty] = [await start(t), await start(t)];
  for (const { store, size } of [
    { ...one, size: 1 },
    { ...fifty, size: 50 },
  ]) {
    const tenant = await tenantWithSchema(store);
    // No test writes to this tenant, so no follower ever gets a message.
    for (const follower of await followers(t, store, tenant, size)) {
      follower.next().catch(() => undefined);
    }
  }
  const before = [one.count(poll), fifty.count(poll)] as const;
  const since = (): readonly [number, number] => [
    one.count(poll) - before[0],
    fifty.count(poll) - before[1],
  ];
  await until(async () => (since().every((polls) => polls >= 3) ? true : undefined));
  const [ofOne, ofFifty] = since();
  // A poll that has been sent late counts, too.
  assert.ok(ofFifty <= 2 * ofOne + 2, `${ofFifty} beside ${ofOne}`);
  assert.equal(fifty.count(page), 0);
});

test("those who have come equally far read a page once for all", async (t) => {
  const { store, count } = await start(t);
  const tenant = await tenantWithSchema(store);
  const all = await followers(t, store, tenant, 20);
  for (let written = 0; written < 10; written++) {
    const told = all.map(async (follower) => textOf(await follower.next()));
    await write(store, tenant, { tuples: [`doc:${written}#owner@user:a`] });
    for (const texts of await Promise.all(told)) {
      assert.deepEqual(texts, [`+doc:${written}#owner@user:a`]);
    }
  }
  // For each change and each of them it would be 200.
  assert.ok(count(page) <= 40, String(count(page)));
});

test("those who do not read hold neither a connection nor a snapshot", async (t) => {
  const { store, sql } = await start(t, 1);
  const tenant = await tenantWithSchema(store);
  const all = await followers(t, store, tenant, 5);
  for (let written = 0; written < 20; written++) {
    await write(store, tenant, { tuples: [`doc:${written}#owner@user:a`] });
  }
  for (const follower of all) await follower.next();
  // There is one connection, so this would wait for ever.
  assert.equal(await allowed(store, tenant, { id: "7", permission: "view", subject: "a" }), true);
  await until(async () => {
    const holding = await sql`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'pemba'
        and (backend_xmin is not null or backend_xid is not null or state <> 'idle')
    `;
    return holding.length === 0 ? true : undefined;
  });
});

test("a transaction that was open for long is told when it is committed, and keeps no other back", async (t) => {
  const { store, sql } = await start(t);
  const tenant = await tenantWithSchema(store);
  const [follower] = await followers(t, store, tenant, 1);
  assert.ok(follower);
  const early = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:early"] });
  const middle = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:middle"] });
  await write(store, tenant, { tuples: ["doc:1#owner@user:late"] });
  const late = await follower.next();
  assert.deepEqual(textOf(late), ["+doc:1#owner@user:late"]);
  await middle.commit();
  const second = await follower.next();
  assert.deepEqual(textOf(second), ["+doc:1#owner@user:middle"]);
  await early.commit();
  assert.deepEqual(textOf(await follower.next()), ["+doc:1#owner@user:early"]);

  assert.deepEqual([...(await stateAt(store, tenant, late.snapToken))], ["doc:1#owner@user:late"]);
  const resumed = await follow(store, tenant, late.snapToken);
  const texts = [...textOf(await resumed.next()), ...textOf(await resumed.next())];
  assert.deepEqual(texts.toSorted(), ["+doc:1#owner@user:early", "+doc:1#owner@user:middle"]);
  await resumed.leave();
});

test("a change without a notification is found all the same", async (t) => {
  const { store, sql } = await start(t);
  const tenant = await tenantWithSchema(store);
  const [follower] = await followers(t, store, tenant, 1);
  const next = follower?.next();
  const other = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:a"] });
  await other.commit();
  assert.deepEqual(textOf((await next) ?? assert.fail()), ["+doc:1#owner@user:a"]);
});

test("the token of a change that began after all else was settled names it as proof", async (t) => {
  const { store, sql } = await start(t);
  const tenant = await tenantWithSchema(store);
  const [follower] = await followers(t, store, tenant, 1);
  assert.ok(follower);
  const early = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:early"] });
  await write(store, tenant, { tuples: ["doc:1#owner@user:late"] });
  const late = decodeSnapToken(snapMac, (await follower.next()).snapToken);
  assert.ok(late?.change !== undefined && late.change < late.snapshot.xmax);
  await early.commit();
  const second = decodeSnapToken(snapMac, (await follower.next()).snapToken);
  assert.equal(second?.change, undefined);
  assert.ok(second !== undefined && second.takenBefore >= second.snapshot.xmax);
});

test("a stream ends when the database is gone, and goes on with its token when it is back", async (t) => {
  const { store, url } = await start(t);
  const line = await openLine(t, url);
  const watching = await openStore(line.url, { watch, maxRetries: 1 });
  t.after(() => watching.close());
  const tenant = await tenantWithSchema(store);
  const follower = await follow(watching, tenant);
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  const { snapToken } = await follower.next();
  const end = fails(follower.next(), "UNAVAILABLE");
  await line.cut();
  await end;
  await write(store, tenant, { tuples: ["doc:2#owner@user:a"] });
  await line.mend();
  const resumed = await until(
    async () => await follow(watching, tenant, snapToken).catch(() => undefined),
  );
  assert.deepEqual(textOf(await resumed.next()), ["+doc:2#owner@user:a"]);
  await resumed.leave();
});

test("a stream goes on with a token after a restart", async (t) => {
  const { store: first, url } = await start(t);
  const tenant = await tenantWithSchema(first);
  const before = await openStore(url, { watch });
  const follower = await follow(before, tenant);
  await write(first, tenant, { tuples: ["doc:1#owner@user:a"] });
  const { snapToken } = await follower.next();
  const end = fails(follower.next(), "UNAVAILABLE", "stopping");
  await before.close();
  await end;
  await write(first, tenant, { tuples: ["doc:2#owner@user:a"] });
  const after = await openStore(url, { watch });
  t.after(() => after.close());
  const resumed = await follow(after, tenant, snapToken);
  assert.deepEqual(textOf(await resumed.next()), ["+doc:2#owner@user:a"]);
  await resumed.leave();
});

test("writes that come together are announced together, and those without effect not at all", async (t) => {
  const { store, count } = await start(t);
  const tenant = await tenantWithSchema(store);
  const texts = Array.from({ length: 100 }, (_, index) => `doc:${index}#owner@user:a`);
  await Promise.all(texts.map(async (text) => await write(store, tenant, { tuples: [text] })));
  const announced = count(announcement);
  assert.ok(announced > 0 && announced < 50, String(announced));
  await store.close();
  const settled = count(announcement);
  assert.ok(settled <= announced + 1, String(settled));
});

test("an instance is woken by the writes of others, also after its connection was cut", async (t) => {
  const { store, url, sql } = await start(t);
  const tenant = await tenantWithSchema(store);
  let heard = 0;
  const listener = new Listener(url, () => (heard += 1));
  t.after(() => listener.close());
  listener.start();
  // The first time it is told that it listens.
  await until(async () => (heard === 1 ? true : undefined));
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await until(async () => (heard === 2 ? true : undefined));
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like '%listen pemba_changes%' and pid <> pg_backend_pid()
  `;
  await until(async () => (heard === 3 ? true : undefined));
  await write(store, tenant, { tuples: ["doc:2#owner@user:a"] });
  await until(async () => (heard === 4 ? true : undefined));
});

test("what goes on after the request that began it is in no trace, and has no caller", async (t) => {
  const trace = new AsyncLocalStorage<string>();
  const seen: (readonly [text: string, trace: string | undefined])[] = [];
  const { store, close } = await openPostgres({
    watch,
    onStatement: (text) => seen.push([text, trace.getStore() ?? (presentCaller() && "caller")]),
  });
  t.after(close);
  const tenant = await tenantWithSchema(store);
  const caller = new Caller(new AbortController());
  const follower = await trace.run("request", () =>
    forCaller(caller, async () => {
      const opened = await follow(store, tenant);
      await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      await opened.next();
      await store.tenants.delete(await tenantWithSchema(store));
      return opened;
    }),
  );
  for (const start of [poll, announcement, removal]) {
    const found = await until(async () => seen.find(([text]) => text.startsWith(start)));
    assert.equal(found[1], undefined, start);
  }
  await follower.leave();
});

test("on a server where watch is not enabled nothing can be followed, and nothing is announced", async (t) => {
  const statements: string[] = [];
  const { store, close } = await openPostgres({ onStatement: (text) => statements.push(text) });
  t.after(close);
  const tenant = await tenantWithSchema(store);
  await fails(follow(store, tenant), "NOT_IMPLEMENTED", "`service.watch.enabled`");
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await store.close();
  assert.ok(!statements.some((text) => text.startsWith(announcement)));
});

test("a stream begins again when a tenant that a move hid is back, also beside one that has not noticed", async (t) => {
  const { store, sql } = await start(t);
  const tenant = await tenantWithSchema(store);
  const [slow, waiting] = [await follow(store, tenant), await follow(store, tenant)];
  const first = Promise.all([slow.next(), waiting.next()]);
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  await first;
  const [{ number } = { number: 0 }] = await sql`select number from tenants where id = ${tenant}`;
  const mover = "00000000-0000-0000-0000-000000000001";
  await sql`insert into departures (number, id, mover) values (${number}, ${tenant}, ${mover})`;
  await sql`select hide_tenant(${number}, ${mover})`;
  await fails(waiting.next(), "TENANT_NOT_FOUND", tenant);
  await sql`select show_tenant(${number}, ${mover})`;
  const back = await follow(store, tenant, waiting.delivered());
  const next = back.next();
  await write(store, tenant, { tuples: ["doc:2#owner@user:a"] });
  assert.deepEqual(textOf(await next), ["+doc:2#owner@user:a"]);
  const later = back.next();
  await write(store, tenant, { tuples: ["doc:3#owner@user:a"] });
  assert.deepEqual(textOf(await later), ["+doc:3#owner@user:a"]);
  await Promise.all([back.leave(), slow.leave()]);
});
