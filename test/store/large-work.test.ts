import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { emptyContext, type TenantId } from "../../src/base/tuple.ts";
import { LargeWork } from "../../src/store/layer/large-work.ts";
import type { CheckAnswer, Store } from "../../src/store/store.ts";
import { fails, newTenant, openPostgres, openStore, tenantId } from "./engines.ts";
import { until } from "./open-write.ts";

const megabyte = 2 ** 20;
const keptMegabytes = 128;

/** No statement can answer what leads back to itself through a negation. */
const schema = `entity user {}
entity doc {
  relation parent @doc
  relation reader @user
  permission up = reader not parent.up
  permission away = reader not parent.away
}`;

/** They have more than a megabyte. */
const parents = 8_000;

const user = (id: string) => ({ type: "user", id, relation: "" });
const doc = (id: string) => ({ type: "doc", id });
const frame = { schemaVersion: undefined, snapToken: undefined, depth: 10, context: emptyContext };

type Ask = (store: Store, tenant: TenantId, id: string) => Promise<unknown>;

const check =
  (...permissions: readonly string[]): Ask =>
  async (store, tenant, id) => {
    const answers = await store.permissions.check(tenant, {
      ...frame,
      items: permissions.map((permission) => ({
        entity: doc(id),
        permission,
        subject: user("ada"),
        arguments: [],
      })),
      path: (_item, field) => field,
    });
    return answers.map(({ allowed }) => allowed);
  };

/** What reads many facts, or few, and its answer. */
const questions: readonly { readonly ask: Ask; readonly answer: unknown }[] = [
  { ask: check("up"), answer: [true] },
  { ask: check("up", "away"), answer: [true, true] },
  {
    ask: async (store, tenant, id) => {
      const question = { ...frame, entity: doc(id), subject: user("ada"), onlyPermission: true };
      const answers = await store.permissions.subjectPermissions(tenant, question);
      return [...answers].map(([name, { allowed }]: [string, CheckAnswer]) => [name, allowed]);
    },
    answer: [
      ["up", true],
      ["away", true],
    ],
  },
  {
    ask: async (store, tenant, id) => {
      const { items } = await store.lookups.entities(tenant, {
        ...frame,
        entityType: "doc",
        permission: "up",
        subject: user("ada"),
        scope: new Map([["doc", [id]]]),
        after: undefined,
        limit: 10,
      });
      return items.length;
    },
    answer: 1,
  },
  {
    ask: async (store, tenant, id) => {
      const { items } = await store.lookups.subjects(tenant, {
        ...frame,
        entity: doc(id),
        permission: "up",
        arguments: [],
        subjectType: "user",
        subjectRelation: "",
        after: undefined,
        limit: 10,
      });
      return items;
    },
    answer: ["ada"],
  },
];

let statements = 0;
let large = new LargeWork();
let database: Awaited<ReturnType<typeof openPostgres>>;
let store: Store;
let tenant: TenantId;

before(async () => {
  database = await openPostgres();
  tenant = await newTenant(database.store);
  await database.store.schemas.write(tenant, { text: schema });
  const reader = (id: string) => ({ entity: doc(id), relation: "reader", subject: user("ada") });
  await database.store.data.write(tenant, {
    schemaVersion: undefined,
    tuples: [
      reader("large"),
      reader("small"),
      ...Array.from({ length: parents }, (_, at) => ({
        entity: doc("large"),
        relation: "parent",
        subject: { ...doc(`${at}-`.padEnd(128, "x")), relation: "" },
      })),
    ],
    attributes: [],
  });
});
after(async () => await database.close());

beforeEach(async (context) => {
  large = new LargeWork();
  store = await openStore(database.url, { large, onStatement: () => (statements += 1) });
  assert.ok("after" in context);
  context.after(async () => await store.close());
});

/** Takes the place that a tenant has, until it is given back. */
function take(of: TenantId): { readonly giveBack: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  void large.run({ tenant: of, signal: undefined }, async () => await promise);
  return { giveBack: resolve };
}

async function untilWaiting(count: number): Promise<void> {
  await until(async () => (large.state.waiting === count ? true : undefined));
}

const asked = async (id: string): Promise<unknown[]> =>
  await Promise.all(questions.map(async ({ ask }) => await ask(store, tenant, id)));

const answers = questions.map(({ answer }) => answer);

test("what reads many facts waits for a place of its tenant, and what reads few does not", async () => {
  const place = take(tenant);
  const waiting = asked("large");
  await untilWaiting(questions.length);
  assert.deepEqual(await asked("small"), answers);
  assert.deepEqual(large.state, { running: 1, waiting: questions.length });
  place.giveBack();
  assert.deepEqual(await waiting, answers);
  assert.deepEqual(large.state, { running: 0, waiting: 0 });
});

test("what waits behind much is read again in its turn, with the same answers", async () => {
  const place = take(tenant);
  const signal = undefined;
  const other = { characters: keptMegabytes * megabyte, forget: assert.fail, work: async () => {} };
  const first = large.runRead({ tenant, signal }, other);
  const waiting = asked("large");
  await untilWaiting(1 + questions.length);
  const before = statements;
  place.giveBack();
  await first;
  assert.deepEqual(await waiting, answers);
  assert.equal(statements - before, questions.length);
});

test("what waits lets go of what it has read if it is more than waits may keep, until some begin or leave", async () => {
  const place = take(tenant);
  const half = (keptMegabytes / 2) * megabyte;
  const forgotten: string[] = [];
  const ask = async (name: string, characters: number, signal?: AbortSignal): Promise<void> =>
    await large.runRead(
      { tenant, signal },
      { characters, forget: () => forgotten.push(name), work: async () => {} },
    );
  const leaving = new AbortController();
  const gone = ask("gone", half, leaving.signal);
  const kept = ask("kept", half);
  const more = ask("more", megabyte);
  assert.deepEqual(forgotten, ["more"]);
  leaving.abort();
  await fails(gone, "CANCELLED");
  const again = ask("again", half);
  const beyond = ask("beyond", megabyte);
  assert.deepEqual(forgotten, ["more", "beyond"]);
  place.giveBack();
  await Promise.all([kept, more, again, beyond]);
  const next = take(tenant);
  const all = ask("all", keptMegabytes * megabyte);
  assert.deepEqual(forgotten, ["more", "beyond"]);
  next.giveBack();
  await all;
});

test("a tenant with large work leaves a place to another one", async () => {
  const own = take(tenant);
  const other = tenantId("other");
  await large.run({ tenant: other, signal: undefined }, async () => {
    assert.deepEqual(large.state, { running: 2, waiting: 0 });
  });
  own.giveBack();
});
