/**
 * Applications that write in transactions of their own, beside the service, which writes, runs bundles,
 * deletes by open filters, changes schemas, deletes tenants and collects history. What was logged, replayed
 * in the order of transaction ids, must be what is stored, step by step; so must be each state that a token
 * names, before the commit of which the token is refused; and followers, who leave and come back, must be
 * told the same, each transaction once.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type postgres from "postgres";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { SnapTokens } from "../../src/store/postgres/token/snap-token.ts";
import type { Store } from "../../src/store/store.ts";
import { changesOf, replay, storedState } from "../store/change-log.ts";
import { apply, type Follower, follow, textOf } from "../store/change-streams.ts";
import {
  fails,
  newTenant,
  openStore,
  pool,
  schemaText,
  tenantWithSchema,
  write,
} from "../store/engines.ts";
import { connect, until } from "../store/open-write.ts";
import { stateAt } from "../store/state.ts";
import { type Dice, dice } from "../support/dice.ts";
import { caseCount, isLong, seed } from "../support/run-length.ts";
import { tokenKey } from "../support/token-key.ts";
import { interfaceOptions, type InterfaceScene, openInterface } from "./interface-scene.ts";
import { loggedState, loggedTransactions } from "./logged.ts";
import { assertEffective, type NotedCall } from "./noted-calls.ts";
import { callOnce, type Statement, statementOf, tokenOf } from "./random-applications.ts";
import { serviceChange, writesAtOnce } from "./random-writes.ts";

/** How many transactions all writers make together. */
const transactions = caseCount({ short: 200, long: 5_000 });

const applications = 5;
const services = 4;
const followers = 2;
const marker = "doc:marker#owner@user:end";

let scene: InterfaceScene;
/** Another instance, whose connections find a deadlock at once. */
let store: Store;
/** One that has no streams, so that its writes share transactions. */
let unwatched: Store;
let app: ReturnType<typeof connect>;
let database: Database;
let tokens: SnapTokens;
/** Whether the server has room for prepared transactions: as it comes, it has none. */
let canPrepare: boolean;

before(async () => {
  scene = await openInterface(
    {},
    {
      watch: { readAheadMax: 5 },
      // Windows are long enough for every token that is asked for at once, and far shorter than the run.
      garbageCollection: {
        intervalMs: 200,
        windowMs: isLong ? 60_000 : 10_000,
        timeoutMs: 60_000,
      },
    },
  );
  // Collected history is looked at as well.
  await scene.owner.unsafe(`
    create table log_copy (like changes including defaults);
    create index on log_copy (xid);
    create function copy_log() returns trigger language plpgsql as $$
    begin
      insert into public.log_copy select * from created;
      return null;
    end $$;
    create trigger copy_log after insert on changes referencing new table as created
      for each statement execute function copy_log();
    grant select, insert on log_copy to public;
  `);
  store = await openStore(`${scene.url}?deadlock_timeout=20ms`, {
    sql: interfaceOptions,
    watch: { readAheadMax: 5 },
    maxRetries: 50,
  });
  unwatched = await openStore(`${scene.url}?deadlock_timeout=20ms`, {
    sql: interfaceOptions,
    maxRetries: 50,
  });
  app = connect(`${scene.url}?role=${scene.role}&deadlock_timeout=20ms`, applications + 3);
  database = await Database.connect({ url: scene.url, pool, warn: assert.fail });
  tokens = await SnapTokens.load(database, { key: tokenKey, fromSql: true });
  const [setting] = await app<
    { max_prepared_transactions: string }[]
  >`show max_prepared_transactions`;
  canPrepare = Number(setting?.max_prepared_transactions) >= applications;
});

after(async () => {
  await app.end({ timeout: 1 });
  // One that a failed run has left would keep its database.
  const left = await scene.owner<{ gid: string }[]>`
    select gid from pg_prepared_xacts where database = current_database()
  `;
  for (const { gid } of left) await scene.owner.unsafe(`rollback prepared '${gid}'`);
  await database.close();
  await store.close();
  await unwatched.close();
  await scene.close();
});

/** A state that a token named, as it was read. */
interface ReadState {
  readonly token: SnapToken;
  readonly state: readonly string[];
}

/** What the run met. */
interface Tally {
  readonly refusals: Record<string, number>;
  readonly states: ReadState[];
  /** Of transactions that were committed. */
  readonly calls: NotedCall[];
  committed: number;
  refusedTokens: number;
  /** Of those that were taken amid a transaction: how many were refused for good. */
  partialTokens: number;
  /** Transactions that were prepared first. */
  prepared: number;
}

class Undone extends Error {}

/** A token that was taken before the last write of its transaction, or in a part that was undone. */
interface EarlyToken {
  readonly token: SnapToken;
  /** What was read at it then, if the transaction had written nothing. */
  readonly state: readonly string[] | undefined;
}

/** What is looked at when a transaction is over. */
interface Noted {
  readonly early: EarlyToken[];
  readonly calls: NotedCall[];
}

/** A transaction of an application, which adds to `noted`. Resolves to its last token, if it took one. */
async function applicationChange(
  tenant: TenantId,
  die: Dice,
  tally: Tally,
  noted: Noted,
): Promise<SnapToken | undefined> {
  const { upTo, happens } = die;
  const prepared = canPrepare && happens(0.05) ? `${tenant} ${tally.prepared++}` : "";
  const token = await app.begin(async (transaction) => {
    const inside = statementOf(transaction);
    // Mostly an application has an id long before it writes here.
    if (happens(0.5)) await inside`select pg_current_xact_id()`;
    for (let count = upTo(4); count >= 0; count--) {
      if (happens(0.4)) await wait(upTo(8));
      if (happens(0.1)) noted.early.push(await earlyToken(inside, tenant));
      if (happens(0.2)) {
        await part(transaction, tenant, { die, noted, isUndone: happens(0.5) });
        continue;
      }
      await callOnce(inside, tenant, die, noted.calls);
    }
    const token = happens(0.3) ? await tokenOf(inside, tenant) : undefined;
    if (token !== undefined && happens(0.3) && (await seesRefusal(tenant, token))) {
      tally.refusedTokens++;
    }
    if (happens(0.2)) await wait(upTo(8));
    if (happens(0.2)) throw new Undone();
    if (prepared !== "") await transaction.unsafe(`prepare transaction '${prepared}'`);
    return token;
  });
  if (prepared === "") return token;
  await wait(upTo(8));
  const isUndone = happens(0.2);
  await app.unsafe(`${isUndone ? "rollback" : "commit"} prepared '${prepared}'`);
  if (isUndone) throw new Undone();
  return token;
}

/** A savepoint with some calls. */
async function part(
  transaction: postgres.TransactionSql,
  tenant: TenantId,
  {
    die,
    noted,
    isUndone,
  }: { readonly die: Dice; readonly noted: Noted; readonly isUndone: boolean },
): Promise<void> {
  await transaction
    .savepoint(async (savepoint) => {
      const inside = statementOf(savepoint);
      await callOnce(inside, tenant, die, isUndone ? undefined : noted.calls);
      if (die.happens(0.3)) noted.early.push(await earlyToken(inside, tenant));
      if (isUndone) throw new Undone();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
}

async function earlyToken(inside: Statement, tenant: TenantId): Promise<EarlyToken> {
  const token = await tokenOf(inside, tenant);
  const hasWritten = tokens.read(token).change !== "0";
  return { token, state: hasWritten ? undefined : await stateAt(store, tenant, token) };
}

/** Now that the transaction is over, an early token names what it named before, or nothing. */
async function readEarly(
  tenant: TenantId,
  { token, state }: EarlyToken,
  tally: Tally,
): Promise<void> {
  try {
    const found = await stateAt(store, tenant, token);
    if (state !== undefined) assert.deepEqual(found, state);
    tally.states.push({ token, state: found });
  } catch (error) {
    assert.ok(error instanceof PembaError && error.code === "INVALID_SNAP_TOKEN", String(error));
    assert.match(error.message, /before the last write/);
    tally.partialTokens++;
  }
}

/** Asks for the state of an open transaction, which is refused if it has changed anything. */
async function seesRefusal(tenant: TenantId, token: SnapToken): Promise<boolean> {
  if (tokens.read(token).change === "0") return false;
  await fails(stateAt(store, tenant, token), "INVALID_SNAP_TOKEN", "not committed");
  return true;
}

async function applicationRun(tenant: TenantId, die: Dice, tally: Tally): Promise<void> {
  const noted: Noted = { early: [], calls: [] };
  try {
    const token = await applicationChange(tenant, die, tally, noted);
    tally.committed++;
    tally.calls.push(...noted.calls);
    if (token !== undefined) {
      tally.states.push({ token, state: await stateAt(store, tenant, token) });
    }
  } catch (error) {
    if (!(error instanceof Undone)) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      // Others were in the way: an application repeats its transaction.
      if (!["40001", "40P01"].includes(code)) throw error;
      tally.refusals[code] = (tally.refusals[code] ?? 0) + 1;
    }
  }
  for (const one of noted.early) await readEarly(tenant, one, tally);
}

async function serviceRun(tenant: TenantId, die: Dice, tally: Tally): Promise<void> {
  const results = die.happens(0.3)
    ? await writesAtOnce(unwatched, tenant, die)
    : await Promise.allSettled([serviceChange(store, tenant, die)]);
  tally.committed++;
  for (const result of results) {
    if (result.status === "fulfilled") {
      if (!die.happens(0.2)) continue;
      const token = result.value;
      tally.states.push({ token, state: await stateAt(store, tenant, token) });
      continue;
    }
    const error: unknown = result.reason;
    // The schema is changed again and again: on a busy machine that may be before each try.
    if (!(error instanceof PembaError) || error.code !== "SERIALIZATION") throw error;
    tally.refusals[error.code] = (tally.refusals[error.code] ?? 0) + 1;
  }
}

/** Follows until the marker comes. Compares what adds up with the state at each token. */
async function watchAll(tenant: TenantId, die: Dice, start: SnapToken): Promise<readonly string[]> {
  const told: string[] = [];
  const state = new Set(await stateAt(store, tenant, start));
  let token = start;
  for (;;) {
    const follower: Follower = await follow(store, tenant, token);
    try {
      for (let count = 1 + die.upTo(200); count > 0; count--) {
        const message = await follower.next();
        if (message.changes.length === 0) continue;
        const texts = textOf(message);
        for (const text of texts) apply(state, text);
        token = message.snapToken;
        told.push(JSON.stringify(texts));
        if (die.happens(0.2)) {
          assert.deepEqual(await stateAt(store, tenant, token), [...state].toSorted());
        }
        if (texts.includes(`+${marker}`)) return told;
      }
    } finally {
      await follower.leave();
    }
  }
}

/** Tenants that end while applications write into them. Resolves to the numbers that they had. */
async function endTenants(die: Dice, isOver: () => boolean): Promise<readonly string[]> {
  const numbers: string[] = [];
  while (!isOver()) {
    // To make the functions of a schema takes longer than a hundred writes.
    await wait(isLong ? 3_000 : 500);
    const tenant = await newTenant(store);
    await store.schemas.write(tenant, { text: schemaText });
    const [row] = await scene.owner<{ number: string }[]>`
      select number::text from tenants where id = ${tenant}
    `;
    numbers.push(row?.number ?? assert.fail("no tenant"));
    await Promise.all([
      ...Array.from({ length: 3 }, async () => {
        await app
          .begin(async (inside) => {
            await callOnce(statementOf(inside), tenant, die);
            await wait(die.upTo(30));
            await callOnce(statementOf(inside), tenant, die);
          })
          .catch((error: unknown) => {
            const code = error instanceof Error && "code" in error ? String(error.code) : "";
            // What belongs to its schema goes with the tenant.
            if (!["40001", "40P01", "PB001", "PB004"].includes(code)) throw error;
          });
      }),
      wait(die.upTo(20)).then(async () => await store.tenants.delete(tenant)),
    ]);
  }
  return numbers;
}

/** How many rows there are of tenants that have ended. */
async function rowsOf(numbers: readonly string[]): Promise<number> {
  const [row] = await scene.owner<{ count: number }[]>`
    select count(*)::integer as count
    from (
      select tenant from relationships
      union all select tenant from attributes
      union all select tenant from changes
      union all select tenant from schemas
      union all select tenant from pemba_plans.names
      union all select number from removed_tenants
    ) as rows
    where tenant = any(${numbers}::text[]::bigint[])
  `;
  return row?.count ?? assert.fail("no count");
}

test(`the log of ${transactions} overlapping transactions replays to what is stored`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const { owner } = scene;
  const tenant = await tenantWithSchema(store);
  const start = await write(store, tenant, { tuples: ["doc:1#owner@user:0"] });
  const tally: Tally = {
    refusals: {},
    states: [],
    calls: [],
    committed: 0,
    refusedTokens: 0,
    partialTokens: 0,
    prepared: 0,
  };
  let left = transactions;
  let isOver = false;
  const writing = async (
    number: number,
    run: (tenant: TenantId, die: Dice, tally: Tally) => Promise<void>,
  ): Promise<void> => {
    const die = dice(number);
    while (left-- > 0) await run(tenant, die, tally);
  };
  const watching = Promise.allSettled(
    Array.from(
      { length: followers },
      async (_, index) => await watchAll(tenant, dice(index), start),
    ),
  );
  const ending = endTenants(dice(10), () => isOver);
  const changing = (async () => {
    while (!isOver) {
      await store.schemas.write(tenant, { text: schemaText });
      await wait(isLong ? 5_000 : 1_000);
    }
  })();
  await Promise.all([
    ...Array.from({ length: applications }, async (_, index) => {
      await writing(100 + index, applicationRun);
    }),
    ...Array.from({ length: services }, async (_, index) => {
      await writing(200 + index, serviceRun);
    }),
  ]);
  isOver = true;
  await changing;
  const ended = await ending;
  await write(store, tenant, { tuples: [marker] });

  const copy = { sql: owner, table: "log_copy" };
  const log = await changesOf(owner, tenant, copy.table);
  assert.deepEqual(replay(log), await storedState(owner, tenant));
  assertEffective(log, tally.calls);
  for (const { token, state } of tally.states) {
    assert.deepEqual(state, await loggedState(copy, tenant, tokens.read(token).snapshot));
  }
  const logged = await loggedTransactions(copy, tenant);
  const first = JSON.stringify(["+doc:1#owner@user:0"]);
  for (const result of await watching) {
    if (result.status === "rejected") throw result.reason;
    assert.deepEqual([first, ...result.value].toSorted(), logged);
  }
  await until(async () => ((await rowsOf(ended)) === 0 ? true : undefined));
  t.diagnostic(
    `${log.length} log rows, ${tally.committed} committed, ${tally.states.length} states, ` +
      `${tally.calls.length} calls, ` +
      `${tally.refusedTokens} tokens refused before the commit, ${tally.partialTokens} for good, ` +
      `${tally.prepared} prepared, ${ended.length} tenants ended, ` +
      `refused ${JSON.stringify(tally.refusals)}`,
  );
});
