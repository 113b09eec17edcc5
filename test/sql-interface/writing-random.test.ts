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
import { serviceChange, someAttributes, someTuples } from "./random-writes.ts";

/** How many transactions all writers make together. */
const transactions = caseCount({ short: 200, long: 8_000 });

const applications = 5;
const services = 4;
const followers = 2;
const marker = "doc:marker#owner@user:end";

let scene: InterfaceScene;
/** Another instance, whose connections find a deadlock at once. */
let store: Store;
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
    create function copy_log() returns trigger language plpgsql as $$
    begin
      insert into log_copy select * from created;
      return null;
    end $$;
    create trigger copy_log after insert on changes referencing new table as created
      for each statement execute function copy_log();
    grant insert on log_copy to public;
  `);
  store = await openStore(`${scene.url}?deadlock_timeout=20ms`, {
    sql: interfaceOptions,
    watch: { readAheadMax: 5 },
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
  committed: number;
  refusedTokens: number;
  /** Of those that were taken amid a transaction: how many were refused for good. */
  partialTokens: number;
  /** Transactions that were prepared first. */
  prepared: number;
}

type Transaction = Parameters<Parameters<typeof app.begin>[1]>[0];

/** One call of a function. */
async function callOnce(inside: Transaction, tenant: TenantId, die: Dice): Promise<void> {
  const { upTo } = die;
  switch (upTo(9)) {
    case 0:
      await inside`select pemba.write_tuple(${tenant}, 'doc', ${String(upTo(6))}, 'owner', 'user', ${String(upTo(2))})`;
      break;
    case 1:
    case 2:
      await inside`select pemba.write_tuples(${tenant}, ${someTuples(die, 12)}::text[])`;
      break;
    case 3:
      await inside`select pemba.delete_tuples(${tenant}, ${someTuples(die, 1)}::text[])`;
      break;
    case 4:
      await inside`select pemba.delete_tuples(${tenant}, ${someTuples(die, 8)}::text[])`;
      break;
    case 5:
    case 6: {
      const given = someAttributes(die).map(({ entity, attribute, value }) => ({
        entity,
        attribute,
        value: { "@type": "base.v1.IntegerValue", data: value.data },
      }));
      await inside`select pemba.write_attributes(${tenant}, ${JSON.stringify(given)}::text::jsonb)`;
      break;
    }
    case 7: {
      const names = someAttributes(die).map(({ entity }) => `doc:${entity.id}$limit`);
      await inside`select pemba.delete_attributes(${tenant}, ${names}::text[])`;
      break;
    }
    default:
      await inside`select pemba.delete_entity(${tenant}, 'doc', ${String(upTo(6))})`;
  }
}

class Undone extends Error {}

/** A token that was taken before the last write of its transaction, or in a part that was undone. */
interface EarlyToken {
  readonly token: SnapToken;
  /** What was read at it then, if the transaction had written nothing. */
  readonly state: readonly string[] | undefined;
}

/**
 * A transaction of an application, which adds its early tokens to `early`. Resolves to its last token, if
 * it took one.
 */
async function applicationChange(
  tenant: TenantId,
  die: Dice,
  tally: Tally,
  early: EarlyToken[],
): Promise<SnapToken | undefined> {
  const { upTo, happens } = die;
  const prepared = canPrepare && happens(0.05) ? `${tenant} ${tally.prepared++}` : "";
  const token = await app.begin(async (inside) => {
    // Mostly an application has an id long before it writes here.
    if (happens(0.5)) await inside`select pg_current_xact_id()`;
    for (let count = upTo(4); count >= 0; count--) {
      if (happens(0.4)) await wait(upTo(8));
      if (happens(0.1)) early.push(await earlyToken(inside, tenant));
      if (happens(0.2)) {
        await part(inside, tenant, { die, early, isUndone: happens(0.5) });
        continue;
      }
      await callOnce(inside, tenant, die);
    }
    const token = happens(0.3) ? await tokenOf(inside, tenant) : undefined;
    if (token !== undefined && happens(0.3) && (await seesRefusal(tenant, token))) {
      tally.refusedTokens++;
    }
    if (happens(0.2)) await wait(upTo(8));
    if (happens(0.2)) throw new Undone();
    if (prepared !== "") await inside.unsafe(`prepare transaction '${prepared}'`);
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
  inside: Transaction,
  tenant: TenantId,
  {
    die,
    early,
    isUndone,
  }: { readonly die: Dice; readonly early: EarlyToken[]; readonly isUndone: boolean },
): Promise<void> {
  await inside
    .savepoint(async (part) => {
      await callOnce(part, tenant, die);
      if (die.happens(0.3)) early.push(await earlyToken(part, tenant));
      if (isUndone) throw new Undone();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
}

async function earlyToken(inside: Transaction, tenant: TenantId): Promise<EarlyToken> {
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

async function tokenOf(inside: Transaction, tenant: TenantId): Promise<SnapToken> {
  const [row] = await inside<{ token: SnapToken }[]>`select pemba.token(${tenant})`;
  return row?.token ?? assert.fail("no token");
}

/** Asks for the state of an open transaction, which is refused if it has changed anything. */
async function seesRefusal(tenant: TenantId, token: SnapToken): Promise<boolean> {
  if (tokens.read(token).change === "0") return false;
  await fails(stateAt(store, tenant, token), "INVALID_SNAP_TOKEN", "not committed");
  return true;
}

async function applicationRun(tenant: TenantId, die: Dice, tally: Tally): Promise<void> {
  const early: EarlyToken[] = [];
  try {
    const token = await applicationChange(tenant, die, tally, early);
    tally.committed++;
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
  for (const one of early) await readEarly(tenant, one, tally);
}

async function serviceRun(tenant: TenantId, die: Dice, tally: Tally): Promise<void> {
  const token = await serviceChange(store, tenant, die).catch((error: unknown) => {
    // The schema is changed again and again: on a busy machine that may be before each try.
    if (!(error instanceof PembaError) || error.code !== "SERIALIZATION") throw error;
    tally.refusals[error.code] = (tally.refusals[error.code] ?? 0) + 1;
    return undefined;
  });
  tally.committed++;
  if (token === undefined || !die.happens(0.2)) return;
  tally.states.push({ token, state: await stateAt(store, tenant, token) });
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
            await callOnce(inside, tenant, die);
            await wait(die.upTo(30));
            await callOnce(inside, tenant, die);
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

/** The state that the log has at a snapshot, as `stateAt` gives it. */
async function loggedState(tenant: TenantId, snapshot: string): Promise<readonly string[]> {
  const rows = await scene.owner<{ text: string; operation: string }[]>`
    select operation, entity_type || ':' || entity_id || coalesce(
      '#' || relation || '@' || subject_type || ':' || subject_id
        || case when subject_relation = '' then '' else '#' || subject_relation end,
      '$' || attribute || '=' || value::text) as text
    from log_copy
    where tenant = (select number from tenants where id = ${tenant})
      and pg_visible_in_snapshot(log_copy.xid, ${snapshot}::text::pg_snapshot)
    order by log_copy.xid, ordinal
  `;
  const state = new Set<string>();
  for (const { operation, text } of rows) {
    if (operation === "create") state.add(text);
    else state.delete(text);
  }
  return [...state].toSorted();
}

/** The changes of each transaction, in no order that means anything. */
async function loggedTransactions(tenant: TenantId): Promise<readonly string[]> {
  const rows = await scene.owner<{ texts: string[] }[]>`
    select array_agg(
      case operation when 'create' then '+' else '-' end || entity_type || ':' || entity_id ||
      coalesce('#' || relation || '@' || subject_type || ':' || subject_id,
        '$' || attribute || '=' || value::text)
      order by ordinal
    ) as texts
    from log_copy where tenant = (select number from tenants where id = ${tenant})
    group by xid
  `;
  return rows.map(({ texts }) => JSON.stringify(texts)).toSorted();
}

test(`the log of ${transactions} overlapping transactions replays to what is stored`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const { owner } = scene;
  const tenant = await tenantWithSchema(store);
  const start = await write(store, tenant, { tuples: ["doc:1#owner@user:0"] });
  const tally: Tally = {
    refusals: {},
    states: [],
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

  const log = await changesOf(owner, tenant, "log_copy");
  assert.deepEqual(replay(log), await storedState(owner, tenant));
  for (const { token, state } of tally.states) {
    assert.deepEqual(state, await loggedState(tenant, tokens.read(token).snapshot));
  }
  const logged = await loggedTransactions(tenant);
  const first = JSON.stringify(["+doc:1#owner@user:0"]);
  for (const result of await watching) {
    if (result.status === "rejected") throw result.reason;
    assert.deepEqual([first, ...result.value].toSorted(), logged);
  }
  await until(async () => ((await rowsOf(ended)) === 0 ? true : undefined));
  t.diagnostic(
    `${log.length} log rows, ${tally.committed} committed, ${tally.states.length} states, ` +
      `${tally.refusedTokens} tokens refused before the commit, ${tally.partialTokens} for good, ` +
      `${tally.prepared} prepared, ${ended.length} tenants ended, ` +
      `refused ${JSON.stringify(tally.refusals)}`,
  );
});
