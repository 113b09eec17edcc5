/**
 * Writers whose transactions overlap in every way, some of them undone; and watchers whose
 * connections are cut, and who leave and come back. What they are told must add up to the state at
 * every token, and to the log, each transaction once.
 */
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type postgres from "postgres";

import { PembaError } from "../../src/base/error.ts";
import type { Attribute, SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { type Dice, dice } from "../support/dice.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { apply, type Follower, follow, stateAt, textOf } from "./change-streams.ts";
import {
  attribute,
  openPostgres,
  type OpenStore,
  openStore,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { beginDeleteOfDocs, beginWrite, connect } from "./open-write.ts";

/** How many transactions the writers make, all together. */
const transactions = caseCount({ short: 120, long: 3_000 });

const writers = 6;
const watchers = 3;
/** Few enough pages for watchers to need several. */
const watch = { readAheadMax: 5 };
const marker = "doc:marker#owner@user:end";

let open: OpenStore & { readonly url: string };
let sql: postgres.Sql;

before(async () => {
  open = await openPostgres({ watch });
  sql = connect(open.url, writers + 2);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await open.close();
});

function someTuples({ upTo }: Dice, most: number): readonly string[] {
  return Array.from({ length: upTo(most + 1) }, () => {
    const relation = upTo(2) === 0 ? "owner" : "viewer";
    return `doc:${upTo(12)}#${relation}@user:${upTo(3)}`;
  });
}

function someAttributes({ upTo }: Dice): readonly Attribute[] {
  const ids = new Set(Array.from({ length: upTo(3) }, () => String(upTo(6))));
  return [...ids].map((id) => attribute("limit", { type: "integer", data: upTo(3) }, id));
}

async function oneTransaction(tenant: TenantId, die: Dice): Promise<void> {
  const { upTo, happens } = die;
  if (happens(0.2)) {
    await write(open.store, tenant, {
      tuples: someTuples(die, 5),
      attributes: someAttributes(die),
    });
    return;
  }
  const begun = happens(0.25)
    ? await beginDeleteOfDocs(sql, tenant, happens(0.1) ? [] : [String(upTo(12))])
    : await beginWrite(sql, tenant, {
        tuples: someTuples(die, happens(0.02) ? 1_500 : 5),
        attributes: someAttributes(die),
      });
  // The others go on meanwhile: this is what makes them overlap.
  if (happens(0.7)) await wait(upTo(happens(0.05) ? 50 : 6));
  await (happens(0.15) ? begun.undo() : begun.commit());
}

/** Ends the connections over which instances wake each other, until the signal is aborted. */
async function cutConnections(die: Dice, signal: AbortSignal): Promise<number> {
  let count = 0;
  while (!signal.aborted) {
    await wait(20 + die.upTo(60));
    const rows = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'pemba' and query like '%listen pemba_changes%'
      order by random() limit 1
    `;
    count += rows.length;
  }
  return count;
}

/** Takes an id and keeps it, so that no snapshot gets past it, for a while and again and again. */
async function holdIds(die: Dice, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sql.begin(async (transaction) => {
      await transaction`select pg_current_xact_id()`;
      await wait(50 + die.upTo(200));
    });
  }
}

interface Watched {
  /** The changes of each transaction, in the order in which they were told. */
  readonly told: readonly string[];
  readonly resumed: number;
}

/** Follows until the marker comes. Compares what adds up with the state at each token. */
async function watchAll(
  store: Store,
  tenant: TenantId,
  die: Dice,
  start: SnapToken,
): Promise<Watched> {
  const told: string[] = [];
  const state = new Set(await stateAt(store, tenant, start));
  let token = start;
  let resumed = 0;
  for (;;) {
    resumed++;
    let follower: Follower | undefined;
    try {
      follower = await follow(store, tenant, token);
      const most = 1 + die.upTo(120);
      let parts: readonly string[] = [];
      for (let count = 0; count < most; count++) {
        if (die.happens(0.05)) await wait(die.upTo(30));
        const message = await follower.next();
        parts = [...parts, ...textOf(message)];
        // A part that is not the last: the whole is repeated when the stream is resumed here.
        if (message.snapToken === token) continue;
        token = message.snapToken;
        for (const text of parts) apply(state, text);
        told.push(JSON.stringify(parts));
        assert.deepEqual(await stateAt(store, tenant, token), state);
        if (parts.includes(`+${marker}`)) return { told, resumed };
        parts = [];
      }
    } catch (error) {
      if (!(error instanceof PembaError) || error.code !== "UNAVAILABLE") throw error;
    } finally {
      await follower?.leave();
    }
  }
}

/** What each transaction in the log changed, in no order that means anything. */
async function loggedTransactions(tenant: TenantId): Promise<readonly string[]> {
  const rows = await sql<{ texts: string[] }[]>`
    select array_agg(
      case operation when 'create' then '+' else '-' end || entity_type || ':' || entity_id ||
      coalesce('#' || relation || '@' || subject_type || ':' || subject_id,
        '$' || attribute || '=' || value::text)
      order by ordinal
    ) as texts
    from changes where tenant = (select number from tenants where id = ${tenant})
    group by xid
  `;
  return rows.map(({ texts }) => JSON.stringify(texts)).toSorted();
}

async function live(t: TestContext, store: Store): Promise<void> {
  const tenant = await tenantWithSchema(open.store);
  const start = await write(open.store, tenant, { tuples: ["doc:1#owner@user:0"] });
  const done = new AbortController();
  const disturbed = Promise.all([
    cutConnections(dice(1), done.signal),
    holdIds(dice(2), done.signal),
  ]);
  const watching = Promise.all(
    Array.from({ length: watchers }, (_, index) =>
      watchAll(store, tenant, dice(10 + index), start),
    ),
  );
  let left = transactions;
  await Promise.all(
    Array.from({ length: writers }, async (_, index) => {
      const die = dice(100 + index);
      while (left-- > 0) await oneTransaction(tenant, die);
    }),
  );
  done.abort();
  const [cuts] = await disturbed;
  await write(open.store, tenant, { tuples: [marker] });
  const watched = await watching;
  const logged = await loggedTransactions(tenant);
  for (const { told } of watched) {
    const first = JSON.stringify(["+doc:1#owner@user:0"]);
    assert.deepEqual([first, ...told].toSorted(), logged);
  }
  const resumes = watched.map(({ resumed }) => resumed).join(", ");
  t.diagnostic(`${logged.length} transactions told, resumed ${resumes} times, ${cuts} cuts`);
}

test(`watchers of ${transactions} overlapping transactions miss nothing and hear nothing twice`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const store = await openStore(open.url, { watch });
  try {
    await live(t, store);
  } finally {
    await store.close();
  }
});
