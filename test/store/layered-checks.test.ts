import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { noTelemetry } from "../../src/base/telemetry.ts";
import { emptyContext, type SnapToken, type TenantId } from "../../src/base/tuple.ts";
import type { CheckAnswer, CheckItem, CheckQuestion, Store } from "../../src/store/store.ts";
import { fails, newTenant, openPostgres, openStore, tuple } from "./engines.ts";
import { beginWrite, connect } from "./open-write.ts";

/* What checks cost that wait at the same moment, or come again: statements, counted at the driver. */

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity doc {
  relation viewer @user @group#member
  relation odd @user
  attribute level integer
  permission view = viewer
  permission ruled = high(level)
}
rule high(level integer) { 10 / level > 1 }`;

const chain = 40;
let statements = 0;
const counted = { hits: 0, misses: 0 };
let store: Store;
let url: string;
let close: () => Promise<void>;
let tenant: TenantId;
let token: SnapToken;

before(async () => {
  ({ store, url, close } = await openPostgres({
    slots: 1,
    cache: { maxBytes: 1_000_000, maxEntries: 1000 },
    onStatement: () => (statements += 1),
    telemetry: {
      ...noTelemetry,
      add: (name, amount) => {
        if (name === "pemba.answer.cache.hits") counted.hits += amount;
        if (name === "pemba.answer.cache.misses") counted.misses += amount;
      },
    },
  }));
  tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schema });
  token = await writeTuples([
    "doc:1#viewer@user:ann",
    "doc:2#viewer@group:g0#member",
    ...Array.from({ length: chain }, (_, nth) => `group:g${nth}#member@group:g${nth + 1}#member`),
    `group:g${chain}#member@user:bob`,
  ]);
});

beforeEach(async () => {
  await check(["doc:1", "user:outsider"]);
  statements = 0;
});

after(() => close());

async function writeTuples(texts: readonly string[]): Promise<SnapToken> {
  const data = { schemaVersion: undefined, tuples: texts.map(tuple), attributes: [] };
  return await store.data.write(tenant, data);
}

type Asked = readonly [entity: string, subject: string];

function question(
  asked: readonly Asked[],
  more: Partial<CheckQuestion & { readonly permission: string }> = {},
): CheckQuestion {
  const items = asked.map(([entity, subject]): CheckItem => {
    const [entityType = "", entityId = ""] = entity.split(":");
    const [type = "", id = ""] = subject.split(":");
    return {
      entity: { type: entityType, id: entityId },
      permission: more.permission ?? "view",
      subject: { type, id, relation: "" },
      arguments: [],
    };
  });
  return {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 100,
    context: emptyContext,
    path: (_item, field) => field,
    ...more,
    items,
  };
}

async function check(
  asked: Asked,
  more?: Partial<CheckQuestion & { readonly permission: string }>,
): Promise<boolean | undefined> {
  const [answer] = await store.permissions.check(tenant, question([asked], more));
  return answer?.allowed;
}

test("checks that wait at the same moment are asked with few statements", async () => {
  // The first ones take longer, which would keep batches small. None comes again, so all are asked.
  for (let nth = 0; nth < 20; nth += 1) await check([`doc:first${nth}`, "user:ann"]);
  statements = 0;
  const asked = Array.from({ length: 60 }, (_, nth): Asked => [`doc:${nth % 30}`, "user:ann"]);
  const answers = await Promise.all(asked.map((each) => check(each)));
  assert.deepEqual(
    answers,
    asked.map(([entity]) => entity === "doc:1"),
  );
  // 30 of them are different; how many go together depends on how long they take.
  assert.ok(statements < 30, `${statements} statements`);
});

test("a check that fails does so alone", async () => {
  const depth = chain - 1;
  const first = check(["doc:3", "user:ann"], { depth });
  const good = check(["doc:1", "user:ann"], { depth });
  const bad = fails(check(["doc:2", "user:bob"], { depth }), "DEPTH_NOT_ENOUGH");
  assert.deepEqual(await Promise.all([first, good]), [false, true]);
  await bad;
});

test("a plan that SQL does not express is asked alone, and right", async () => {
  const more = { permission: "ruled" };
  const asked = ["doc:1", "doc:2", "doc:3"].map((entity): Asked => [entity, "user:ann"]);
  const failing = asked.map((each) => fails(check(each, more), "RULE_EVALUATION", "high"));
  await Promise.all(failing);
});

test("a state is learned when its token comes again; then a check costs one statement", async () => {
  const at = { snapToken: token };
  const cost = async (asked: Asked): Promise<number> => {
    const before = statements;
    assert.equal(await check(asked, at), true);
    return statements - before;
  };
  assert.equal(await cost(["doc:2", "user:bob"]), 1);
  assert.equal(await cost(["doc:2", "user:bob"]), 2);
  assert.equal(await cost(["doc:2", "user:bob"]), 1);
  assert.equal(await cost(["doc:1", "user:ann"]), 1);
  assert.equal(await cost(["doc:1", "user:ann"]), 1);
});

test("tokens without a change between them share answers", async () => {
  const other = await writeTuples([]);
  assert.notEqual(other, token);
  const ask = async (at: SnapToken): Promise<void> => {
    assert.equal(await check(["doc:2", "user:bob"], { snapToken: at }), true);
  };
  for (const at of [token, token, other, other]) await ask(at);
  statements = 0;
  await ask(other);
  assert.equal(statements, 1);
});

test("a state does not share answers with one that shows a transaction that was open in it", async (t) => {
  const sql = connect(url);
  t.after(async () => await sql.end({ timeout: 1 }));
  const early = await beginWrite(sql, tenant, { tuples: ["doc:open#viewer@user:ann"] });
  const without = await writeTuples(["doc:late#viewer@user:ann"]);
  const asked: Asked = ["doc:open", "user:ann"];
  // Asked twice, so that the state is known and its answer is kept.
  for (let nth = 0; nth < 2; nth += 1) {
    assert.equal(await check(asked, { snapToken: without }), false);
  }
  await early.commit();
  // It changes nothing, so that the last change of both states is the same one.
  const shown = await writeTuples([]);
  for (let nth = 0; nth < 2; nth += 1) {
    assert.equal(await check(asked, { snapToken: shown }), true);
    assert.equal(await check(asked, { snapToken: without }), false);
  }
});

test("a state in which nothing has been written yet is known, too", async () => {
  const empty = await newTenant(store);
  await store.schemas.write(empty, { text: schema });
  const data = { schemaVersion: undefined, tuples: [], attributes: [] };
  const asked = question([["doc:1", "user:ann"]], {
    snapToken: await store.data.write(empty, data),
  });
  for (let nth = 0; nth < 3; nth += 1) {
    const [answer] = await store.permissions.check(empty, asked);
    assert.equal(answer?.allowed, false);
  }
});

test("a cached answer is not given for a tenant that is gone", async () => {
  const gone = await newTenant(store);
  await store.schemas.write(gone, { text: schema });
  const data = {
    schemaVersion: undefined,
    tuples: [tuple("doc:1#viewer@user:ann")],
    attributes: [],
  };
  const at = await store.data.write(gone, data);
  const asked = question([["doc:1", "user:ann"]], { snapToken: at });
  for (let nth = 0; nth < 3; nth += 1) {
    assert.equal((await store.permissions.check(gone, asked))[0]?.allowed, true);
  }
  await store.tenants.delete(gone);
  await fails(store.permissions.check(gone, asked), "TENANT_NOT_FOUND");
  await store.tenants.create({ id: gone, name: "" });
  await store.schemas.write(gone, { text: schema });
  await fails(store.permissions.check(gone, asked), "INVALID_SNAP_TOKEN");
});

test("only what is given out of the cache counts as a hit", async () => {
  const other = await openStore(url);
  try {
    const own = await newTenant(store);
    await store.schemas.write(own, { text: schema });
    const tuples = [tuple("doc:1#viewer@user:ann")];
    const at = await store.data.write(own, { schemaVersion: undefined, tuples, attributes: [] });
    const ask = async (): Promise<readonly CheckAnswer[]> =>
      await store.permissions.check(own, question([["doc:1", "user:ann"]], { snapToken: at }));
    for (let nth = 0; nth < 2; nth += 1) await ask();
    Object.assign(counted, { hits: 0, misses: 0 });
    await ask();
    assert.deepEqual(counted, { hits: 1, misses: 0 });
    await other.schemas.write(own, { text: `${schema} entity team {}` });
    await ask();
    assert.deepEqual(counted, { hits: 1, misses: 1 });
    await other.tenants.delete(own);
    await fails(ask(), "TENANT_NOT_FOUND");
    assert.deepEqual(counted, { hits: 1, misses: 1 });
  } finally {
    await other.close();
  }
});

test(
  "who leaves while a cached answer waits for the database is let go",
  { timeout: 30_000 },
  async () => {
    const asked = question([["doc:1", "user:ann"]], { snapToken: token });
    for (let nth = 0; nth < 3; nth += 1) await store.permissions.check(tenant, asked);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: locked, resolve: hasLock } = Promise.withResolvers<void>();
    const client = connect(url, 1);
    const locking = client.begin(async (transaction) => {
      await transaction`lock table tenants in access exclusive mode`;
      hasLock();
      await released;
    });
    try {
      await locked;
      const leaving = new AbortController();
      const left = store.permissions.check(tenant, { ...asked, signal: leaving.signal });
      setImmediate(() => leaving.abort());
      await fails(left, "CANCELLED");
    } finally {
      release();
      await locking;
      await client.end();
    }
    assert.equal((await store.permissions.check(tenant, asked))[0]?.allowed, true);
  },
);
