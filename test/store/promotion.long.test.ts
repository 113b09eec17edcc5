/**
 * A standby that follows asynchronously is promoted when the primary is lost, and with it the last
 * transactions, although they have been answered. Transaction ids are then used anew: a token that
 * names a lost state must be refused, not read as another one.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import type postgres from "postgres";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { SnapTokens } from "../../src/store/postgres/token/snap-token.ts";
import type { Store } from "../../src/store/store.ts";
import { openLine } from "../support/line.ts";
import { startFollowedPostgres } from "../support/postgres-binaries.ts";
import { tokenKey } from "../support/token-key.ts";
import { fails, openStore, pool, tenantWithSchema, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { beginWrite, connect, until } from "./open-write.ts";
import { stateAt } from "./state.ts";

interface Pair {
  /** Of the primary. */
  readonly url: string;
  /** On the primary, until that is lost. */
  readonly store: Store;
  readonly sql: postgres.Sql;
  readonly tokens: SnapTokens;
  /** Resolves when the standby has all that the primary has, and gets nothing any more. */
  readonly cutOff: () => Promise<void>;
  /** Ends the primary; the standby takes its place: its address, and a connection to it. */
  readonly failOver: () => Promise<{ readonly url: string; readonly sql: postgres.Sql }>;
}

async function startPair(t: TestContext): Promise<Pair> {
  const { primary, standby } = await startFollowedPostgres();
  t.after(standby.stop);
  const store = await openStore(primary.url, { maxRetries: 0 });
  const [sql, following] = [connect(primary.url, 8), connect(standby.url, 2)];
  const database = await Database.connect({ url: primary.url, pool, warn: assert.fail });
  const tokens = await SnapTokens.load(database, { key: tokenKey });
  t.after(() => following.end({ timeout: 1 }));
  let isLost = false;
  const lose = async (): Promise<void> => {
    if (isLost) return;
    isLost = true;
    await store.close();
    await database.close();
    await sql.end({ timeout: 1 });
    await primary.stop();
  };
  t.after(lose);
  return {
    url: primary.url,
    store,
    sql,
    tokens,
    cutOff: async () => {
      // What no commit follows goes out seconds later.
      const [end] = await sql<{ lsn: string }[]>`
        select pg_logical_emit_message(true, 'test', 'cut off')::text as lsn`;
      const lsn = end?.lsn ?? assert.fail("no position");
      await until(async () => {
        const [row] = await following<{ there: boolean }[]>`
          select pg_last_wal_replay_lsn() >= ${lsn}::text::pg_lsn as there
        `;
        return row?.there === true ? true : undefined;
      });
      await following`alter system set primary_conninfo = ''`;
      await following`select pg_reload_conf()`;
      await until(async () => {
        const receivers = await following`select from pg_stat_wal_receiver`;
        return receivers.length === 0 ? true : undefined;
      });
    },
    failOver: async () => {
      await lose();
      await following`select pg_promote()`;
      return { url: standby.url, sql: following };
    },
  };
}

const watched = { watch: { readAheadMax: 100 } };

const owners = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `doc:1#owner@user:${name}`);

async function refused(store: Store, tenant: TenantId, token: SnapToken): Promise<void> {
  await fails(stateAt(store, tenant, token), "INVALID_SNAP_TOKEN", "metadata.snap_token", "lost");
}

test("tokens of what a failover has lost are refused, those of what it kept hold for ever", async (t) => {
  const { store, cutOff, failOver } = await startPair(t);
  const tenant = await tenantWithSchema(store);
  const empty = await write(store, tenant, {});
  const first = await write(store, tenant, { tuples: owners("first") });
  const second = await write(store, tenant, { tuples: owners("second") });
  const kept = await remove(store, tenant, { tuples: { subjectIds: ["first"] } });
  await cutOff();
  const lost = [
    await write(store, tenant, { tuples: owners("lost") }),
    await remove(store, tenant, { tuples: { type: "doc" } }),
    await write(store, tenant, {}),
  ];

  const { url } = await failOver();
  const heir = await openStore(url);
  t.after(() => heir.close());
  const holds = async (): Promise<void> => {
    assert.deepEqual(await stateAt(heir, tenant, empty), []);
    assert.deepEqual(await stateAt(heir, tenant, first), owners("first"));
    assert.deepEqual(await stateAt(heir, tenant, second), owners("first", "second"));
    assert.deepEqual(await stateAt(heir, tenant, kept), owners("second"));
    for (const token of lost) await refused(heir, tenant, token);
  };
  assert.deepEqual(await stateAt(heir, tenant, undefined), owners("second"));
  await holds();
  // The ids of the lost transactions are given to others.
  const fresh: SnapToken[] = [];
  for (const name of ["a", "b", "c", "d"]) {
    fresh.push(await write(heir, tenant, { tuples: owners(name) }));
  }
  await holds();
  assert.deepEqual(await stateAt(heir, tenant, fresh[1]), owners("a", "b", "second"));
});

test("a lost transaction is refused also when one with a higher id was kept", async (t) => {
  const { store, sql, tokens, cutOff, failOver } = await startPair(t);
  const tenant = await tenantWithSchema(store);
  const early = await beginWrite(sql, tenant, { tuples: owners("early") });
  const kept = await write(store, tenant, { tuples: owners("kept") });
  await cutOff();
  await early.commit();
  const lost = await tokens.mint(early.source);
  // It shows what is lost without having changed anything.
  const witness = await write(store, tenant, {});

  const { url } = await failOver();
  const heir = await openStore(url);
  t.after(() => heir.close());
  assert.deepEqual(await stateAt(heir, tenant, kept), owners("kept"));
  for (const token of [lost, witness]) await refused(heir, tenant, token);
  await write(heir, tenant, { tuples: owners("a") });
  assert.deepEqual(await stateAt(heir, tenant, kept), owners("kept"));
  for (const token of [lost, witness]) await refused(heir, tenant, token);
});

test("a lost transaction is refused also when others than Pemba have used its id", async (t) => {
  const { store, cutOff, failOver } = await startPair(t);
  const tenant = await tenantWithSchema(store);
  const kept = await write(store, tenant, { tuples: owners("kept") });
  await cutOff();
  const lost = await write(store, tenant, { tuples: owners("lost") });

  const { url, sql } = await failOver();
  for (let count = 0; count < 10; count++) await sql`select pg_current_xact_id()`;
  const heir = await openStore(url);
  t.after(() => heir.close());
  assert.deepEqual(await stateAt(heir, tenant, kept), owners("kept"));
  await refused(heir, tenant, lost);
  await write(heir, tenant, { tuples: owners("a") });
  await refused(heir, tenant, lost);
});

test("an instance that runs through a failover refuses what was lost from its first answer on", async (t) => {
  const { store: witness, url, cutOff, failOver } = await startPair(t);
  const tenant = await tenantWithSchema(witness);
  const line = await openLine(t, url);
  const store = await openStore(line.url, watched);
  t.after(() => store.close());
  const kept = await write(store, tenant, { tuples: owners("kept") });
  await write(store, tenant, { tuples: owners("later") });
  await cutOff();
  const lost = await write(store, tenant, { tuples: owners("lost") });
  assert.deepEqual(await stateAt(store, tenant, lost), owners("kept", "later", "lost"));

  await line.cut();
  const heir = await failOver();
  await line.mend(heir.url);
  // It may be that the first tries still meet the broken connections.
  const first = await until(async () => {
    return await stateAt(store, tenant, lost).catch((error: unknown) =>
      error instanceof PembaError && error.code !== "UNAVAILABLE" ? error : undefined,
    );
  });
  assert.ok(first instanceof PembaError && first.code === "INVALID_SNAP_TOKEN", String(first));
  assert.deepEqual(await stateAt(store, tenant, kept), owners("kept"));
  const fresh = await write(store, tenant, { tuples: owners("fresh") });
  assert.deepEqual(await stateAt(store, tenant, fresh), owners("fresh", "kept", "later"));
  await refused(store, tenant, lost);

  const { signal } = new AbortController();
  await fails(store.changes.follow(tenant, { after: lost, signal }), "INVALID_SNAP_TOKEN", "lost");
  const { messages } = await store.changes.follow(tenant, { after: kept, signal });
  const told: string[] = [];
  for await (const { changes } of messages) {
    told.push(...changes.map((one) => (one.kind === "tuple" ? one.tuple.subject.id : "")));
    if (told.length === 2) break;
  }
  assert.deepEqual(told, ["later", "fresh"]);
});
