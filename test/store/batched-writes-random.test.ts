/**
 * Many single writes of several tenants at the same moment, beside deletes of the same keys, other changes,
 * transactions of applications, changed schemas and a tenant that comes and goes. The log must replay to what is
 * stored, each token must name a state of the log, and a tuple that nothing deletes must be in the state of its token.
 * Without applications, no change may fail because of another one.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { SnapTokens } from "../../src/store/postgres/token/snap-token.ts";
import type { Store } from "../../src/store/store.ts";
import {
  type InterfaceScene,
  interfaceOptions,
  openInterface,
} from "../sql-interface/interface-scene.ts";
import { loggedState } from "../sql-interface/logged.ts";
import { callOnce, statementOf } from "../sql-interface/random-applications.ts";
import { runBundle, serviceChange, someTuples } from "../sql-interface/random-writes.ts";
import { type Dice, dice } from "../support/dice.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { tokenKey } from "../support/token-key.ts";
import { changesOf, replay, storedState } from "./change-log.ts";
import { openStore, pool, schemaText, tenantWithSchema, write } from "./engines.ts";
import { connect } from "./open-write.ts";
import { stateAt } from "./state.ts";

/** How many times single writes come at the same moment. */
const bursts = caseCount({ short: 30, long: 500 });
const writesOfBurst = 12;
const applications = 3;
const tenantCount = 3;
/** So many tuples of a tenant that nothing deletes are written again and again. */
const lastingCount = 20;
/** How many states are looked at when all is over. */
const statesMax = 500;

let scene: InterfaceScene;
/** Two instances that have no streams, so that their writes share transactions. */
let stores: readonly [Store, Store];
/** Two that repeat nothing. */
let strict: readonly [Store, Store];
let app: ReturnType<typeof connect>;
let database: Database;
let tokens: SnapTokens;
/** Statements that made writes of several requests. */
let batches = 0;

/** The server stops now and then between two rows of a statement, so that others come in between. */
const pauses = `
  create function pause() returns trigger language plpgsql as $$
  begin
    if random() < 0.15 then
      perform pg_sleep(random() * 0.008);
    end if;
    return coalesce(new, old);
  end $$;
  create trigger pause before insert or delete on relationships
    for each row execute function pause();
`;

before(async () => {
  scene = await openInterface();
  await scene.owner.unsafe(pauses);
  const options = {
    sql: interfaceOptions,
    onStatement: (text: string): void => {
      if (text.includes("write_batch(")) batches++;
    },
  };
  const url = `${scene.url}?deadlock_timeout=50ms`;
  const repeating = { ...options, maxRetries: 50 };
  stores = [await openStore(url, repeating), await openStore(url, repeating)];
  const once = { ...options, maxRetries: 0 };
  strict = [await openStore(url, once), await openStore(url, once)];
  app = connect(`${url}&role=${scene.role}`, applications);
  database = await Database.connect({ url: scene.url, pool, warn: assert.fail });
  tokens = await SnapTokens.load(database, { key: tokenKey, fromSql: true });
});

after(async () => {
  await app.end({ timeout: 1 });
  await database.close();
  for (const store of [...stores, ...strict]) await store.close();
  await scene.close();
});

interface MadeWrite {
  readonly tenant: TenantId;
  readonly token: SnapToken;
  /** If nothing deletes it. */
  readonly lasting: string | undefined;
}

/** What the run met. */
interface Tally {
  readonly made: MadeWrite[];
  readonly refusals: Record<string, number>;
}

function tolerate(error: unknown, codes: readonly string[], tally: Tally): void {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!codes.includes(code)) throw error;
  tally.refusals[code] = (tally.refusals[code] ?? 0) + 1;
}

/** Single writes at the same moment, into any tenant: of tuples that are deleted as well, or of new ones. */
async function burst(
  store: Store,
  name: string,
  { tenants, fleeting }: Tenants,
  die: Dice,
  tally: Tally,
): Promise<void> {
  const writes = Array.from({ length: 1 + die.upTo(writesOfBurst) }, async (_, nth) => {
    const isFleeting = die.happens(0.15);
    const tenant = isFleeting ? fleeting : oneOf(tenants, die);
    const lasting = die.happens(0.3) ? lastingTuple(`${name}x${nth}`, die) : undefined;
    const text = lasting ?? someTuples(die, 1)[0] ?? assert.fail("no tuple");
    const token = await write(store, tenant, { tuples: [text] });
    if (!isFleeting) tally.made.push({ tenant, token, lasting });
  });
  for (const result of await Promise.allSettled(writes)) {
    if (result.status === "fulfilled") continue;
    // One tenant comes and goes, and the schema may change before each try.
    tolerate(result.reason, ["TENANT_NOT_FOUND", "SCHEMA_NOT_FOUND", "SERIALIZATION"], tally);
  }
}

/** One that nothing deletes, mostly a new one. */
function lastingTuple(name: string, { happens, upTo }: Dice): string {
  return `group:${happens(0.4) ? upTo(lastingCount) : name}#member@user:kept`;
}

function oneOf<T>(list: readonly T[], { upTo }: Dice): T {
  return list[upTo(list.length)] ?? assert.fail("an empty list");
}

interface Tenants {
  readonly tenants: readonly TenantId[];
  /** Deleted and created anew again and again. */
  readonly fleeting: TenantId;
}

/** Deletes, bundles and writes of several elements. They leave alone what lasts. */
async function serviceChanges(
  store: Store,
  { tenants }: Tenants,
  die: Dice,
  tally: Tally,
): Promise<void> {
  await serviceChange(store, oneOf(tenants, die), die).catch((error: unknown) =>
    tolerate(error, ["SERIALIZATION"], tally),
  );
}

/** A transaction of an application, which may hold its keys for longer than writes wait together. */
async function applicationChange({ tenants }: Tenants, die: Dice, tally: Tally): Promise<void> {
  const tenant = oneOf(tenants, die);
  await app
    .begin(async (inside) => {
      // Mostly an application has an id long before it writes here.
      if (die.happens(0.5)) await inside`select pg_current_xact_id()`;
      for (let count = die.upTo(3); count >= 0; count--) {
        if (die.happens(0.4)) await wait(die.upTo(30));
        await callOnce(statementOf(inside), tenant, die);
      }
    })
    .catch((error: unknown) => tolerate(error, ["40001", "40P01"], tally));
}

async function schemaChange(store: Store, { tenants }: Tenants, die: Dice): Promise<void> {
  await store.schemas.write(oneOf(tenants, die), { text: schemaText });
  await wait(die.upTo(200));
}

async function createAnew(store: Store, { fleeting }: Tenants, die: Dice): Promise<void> {
  await store.tenants.delete(fleeting);
  await store.tenants.create({ id: fleeting, name: "" });
  await store.schemas.write(fleeting, { text: schemaText });
  await wait(die.upTo(200));
}

interface Run {
  readonly stores: readonly [Store, Store];
  readonly all: Tenants;
  readonly tally: Tally;
}

async function beginRun(of: Run["stores"]): Promise<Run> {
  const [store] = of;
  const tenants: TenantId[] = [];
  for (let count = 0; count < tenantCount; count++) tenants.push(await tenantWithSchema(store));
  const all = { tenants, fleeting: await tenantWithSchema(store) };
  batches = 0;
  return { stores: of, all, tally: { made: [], refusals: {} } };
}

/** Single writes in three lanes, and in a lane of its own each of the others for as long. */
async function runLanes(
  { stores: of, all, tally }: Run,
  others: readonly ((die: Dice) => Promise<void>)[],
): Promise<void> {
  let left = bursts;
  await Promise.all([
    ...[0, 1, 2].map(async (lane) => {
      const die = dice(lane);
      while (left-- > 0) await burst(oneOf(of, die), `lane${lane}x${left}`, all, die, tally);
    }),
    ...others.map(async (work, lane) => {
      const die = dice(100 + lane);
      while (left > 0) await work(die);
    }),
  ]);
}

async function assertTrue({ stores: [store], all, tally }: Run): Promise<void> {
  for (const tenant of [...all.tenants, all.fleeting]) {
    const changes = await changesOf(scene.owner, tenant);
    assert.deepEqual(replay(changes), await storedState(scene.owner, tenant));
  }
  // Streams find a transaction of a tenant by its first change.
  const gaps = await scene.owner`
    select tenant, xid::text from changes group by tenant, xid
    having min(ordinal) <> 0 or max(ordinal) <> count(*) - 1
  `;
  assert.deepEqual([...gaps], []);
  const log = { sql: scene.owner, table: "changes" };
  // A state of a long run holds thousands of tuples.
  const every = Math.ceil(tally.made.length / statesMax);
  for (const { tenant, token, lasting } of tally.made.filter((_, nth) => nth % every === 0)) {
    const state = await stateAt(store, tenant, token);
    if (lasting !== undefined) assert.ok(state.includes(lasting), `${lasting} is missing`);
    assert.deepEqual(state, await loggedState(log, tenant, tokens.read(token).snapshot));
  }
  assert.ok(batches > 0, "writes shared transactions");
}

function toldOf({ made, refusals }: Tally): string {
  return `${made.length} writes, ${batches} times together, refused ${JSON.stringify(refusals)}`;
}

test(`${bursts} bursts of single writes leave a log that replays, and tokens that are true`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const run = await beginRun(stores);
  const { all, tally } = run;
  const [store, other] = stores;
  await runLanes(run, [
    async (die) => await serviceChanges(store, all, die, tally),
    async (die) => await serviceChanges(other, all, die, tally),
    ...Array.from(
      { length: applications },
      () => async (die: Dice) => await applicationChange(all, die, tally),
    ),
    async (die) => await schemaChange(other, all, die),
    async (die) => await createAnew(other, all, die),
  ]);
  await assertTrue(run);
  t.diagnostic(toldOf(tally));
});

test(`${bursts} bursts of single writes and other changes of the service never fail for another one`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const run = await beginRun(strict);
  const { tenants } = run.all;
  await runLanes(
    run,
    strict.flatMap((store) => [
      async (die: Dice): Promise<void> => {
        await serviceChange(store, oneOf(tenants, die), die);
      },
      // What one operation finds may come after the id that the first one has taken.
      async (die: Dice): Promise<void> => {
        await runBundle(store, oneOf(tenants, die), die, 8);
      },
    ]),
  );
  assert.deepEqual(run.tally.refusals, {});
  await assertTrue(run);
  t.diagnostic(toldOf(run.tally));
});
