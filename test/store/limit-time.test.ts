/** How soon late operations end, with any cause of the wait, by a clock of the test. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { Caller, forCaller, presentCaller } from "../../src/base/caller.ts";
import { PembaError } from "../../src/base/error.ts";
import { tokenMac } from "../../src/base/token-mac.ts";
import { emptyContext, type TenantId } from "../../src/base/tuple.ts";
import { limitChanges } from "../../src/store/layer/limit-changes.ts";
import { limitQuestions, limitReads } from "../../src/store/layer/limit-concurrency.ts";
import { limitTime } from "../../src/store/layer/limit-time.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { type StandingClock, stopClocks } from "../support/standing-clock.ts";
import { fails, tenantId, tenantWithSchema } from "./engines.ts";

const readMs = 10_000;
const changeMs = 20_000;
/** That is granted beyond what is set. */
const moreMs = 500;

const tenant = tenantId("t1");
const user = { type: "user", id: "ada", relation: "" };
const doc = { type: "doc", id: "1" };

type Ask = (store: Store, tenant: TenantId, signal?: AbortSignal) => Promise<unknown>;

const write: Ask = (store, of) =>
  store.data.write(of, { schemaVersion: undefined, tuples: [], attributes: [] });

const frame = { schemaVersion: undefined, snapToken: undefined, depth: 100, context: emptyContext };
const page = { snapToken: undefined, after: undefined, limit: 10 };
const anything = { entity: { type: "doc", ids: [] }, relation: "", attributes: [] };

const check: Ask = async (store, of, signal) =>
  await store.permissions.check(of, {
    ...frame,
    items: [{ entity: doc, permission: "view", subject: user, arguments: [] }],
    path: (_item, field) => field,
    signal,
  });

const reads: Readonly<Record<string, Ask>> = {
  check,
  subjectPermissions: (store, of, signal) =>
    store.permissions.subjectPermissions(of, {
      ...frame,
      entity: doc,
      subject: user,
      onlyPermission: false,
      signal,
    }),
  expand: (store, of, signal) =>
    store.permissions.expand(of, {
      ...frame,
      entity: doc,
      permission: "view",
      arguments: [],
      signal,
    }),
  "lookups.entities": (store, of, signal) =>
    store.lookups.entities(of, {
      ...frame,
      entityType: "doc",
      permission: "view",
      subject: user,
      scope: new Map(),
      after: undefined,
      limit: 10,
      signal,
    }),
  "lookups.subjects": (store, of, signal) =>
    store.lookups.subjects(of, {
      ...frame,
      entity: doc,
      permission: "view",
      arguments: [],
      subjectType: "user",
      subjectRelation: "",
      after: undefined,
      limit: 10,
      signal,
    }),
  "tenants.list": (store) => store.tenants.list({ after: undefined, limit: 1 }),
  "schemas.read": (store, of) => store.schemas.read(of, undefined),
  "schemas.list": (store, of) => store.schemas.list(of, { before: undefined, limit: 1 }),
  readTuples: (store, of) =>
    store.data.readTuples(of, {
      ...page,
      filter: { ...anything, subject: { type: "", ids: [], relation: "" } },
    }),
  readAttributes: (store, of) => store.data.readAttributes(of, { ...page, filter: anything }),
  "bundles.read": (store, of) => store.bundles.read(of, "b"),
  "bundles.list": (store, of) => store.bundles.list(of, { after: undefined, limit: 1 }),
  follow: (store, of) =>
    store.changes.follow(of, { after: undefined, signal: new AbortController().signal }),
};

const changes: Readonly<Record<string, Ask>> = {
  "tenants.create": (store) => store.tenants.create({ id: tenant, name: "" }),
  "tenants.delete": (store, of) => store.tenants.delete(of),
  "schemas.write": (store, of) => store.schemas.write(of, { text: "entity user {}" }),
  "data.write": write,
  "data.delete": (store, of) => store.data.delete(of, { tuples: undefined, attributes: undefined }),
  "bundles.write": (store, of) => store.bundles.write(of, []),
  "bundles.delete": (store, of) => store.bundles.delete(of, "b"),
  "bundles.run": (store, of) => store.bundles.run(of, "b", () => []),
};

/** A store that never answers; `began` is called with the caller of what it is asked. */
function silentStore(began: (caller: Caller | undefined) => void = () => {}): Store {
  const wait = async (): Promise<never> => {
    began(presentCaller());
    return await Promise.withResolvers<never>().promise;
  };
  return {
    tenants: { create: wait, delete: wait, list: wait },
    schemas: {
      write: wait,
      read: wait,
      list: wait,
      knownHead: () => undefined,
      learnHead: () => {},
    },
    data: { write: wait, delete: wait, change: wait, readTuples: wait, readAttributes: wait },
    bundles: { write: wait, read: wait, list: wait, delete: wait, run: wait },
    permissions: { check: wait, subjectPermissions: wait, expand: wait, explain: wait },
    lookups: { entities: wait, subjects: wait },
    changes: { follow: wait },
    pageMac: tokenMac("test", "continuous"),
    ping: async () => {},
    close: async () => {},
  };
}

function limited(store: Store): Store {
  return withLayers(store, { time: limitTime({ readMs, changeMs }) });
}

/** What the work fails with by then, and not before. */
async function lateAfter(
  { pass }: StandingClock,
  ms: number,
  work: Promise<unknown>,
): Promise<PembaError> {
  let isOver = false;
  const failing = fails(work, "DEADLINE_EXCEEDED").finally(() => {
    isOver = true;
  });
  // Other work of the process may come first.
  const settled = async (): Promise<void> => {
    for (let round = 0; round < 20 && !isOver; round++) await new Promise(setImmediate);
  };
  await settled();
  pass(ms - 1);
  await settled();
  assert.ok(!isOver, "it has ended too soon");
  pass(moreMs + 1);
  await settled();
  assert.ok(isOver, "it still waits");
  return await failing;
}

for (const [name, ask] of Object.entries(reads)) {
  test(`${name} ends within the limit of reads`, async (t) => {
    const clock = stopClocks(t);
    const error = await lateAfter(clock, readMs, ask(limited(silentStore()), tenant));
    assert.match(error.plainMessage, /`database\.read_timeout`/);
  });
}

for (const [name, ask] of Object.entries(changes)) {
  test(`${name} ends within the limit of changes, and says what it may have done`, async (t) => {
    const clock = stopClocks(t);
    const unsent = await lateAfter(clock, changeMs, ask(limited(silentStore()), tenant));
    assert.match(unsent.plainMessage, /`database\.write_timeout`.*is not made/);
    const sends = silentStore((caller) => caller?.sendsChange());
    const sent = await lateAfter(clock, changeMs, ask(limited(sends), tenant));
    assert.match(sent.plainMessage, /`database\.write_timeout`.*may be made or may not/);
  });
}

test("a waiting operation ends within the limit, and has left the queue", async (t) => {
  const clock = stopClocks(t);
  let began = 0;
  const store = silentStore(() => began++);
  const queued = withLayers(store, {
    questions: limitQuestions(1),
    reads: limitReads(1),
    changes: limitChanges(1),
    time: limitTime({ readMs, changeMs }),
  });
  const list = reads["tenants.list"] ?? assert.fail();
  for (const [ms, ask] of [
    [readMs, check],
    [readMs, list],
    [changeMs, write],
  ] as const) {
    const [first, second] = [ask(queued, tenant), fails(ask(queued, tenant), "DEADLINE_EXCEEDED")];
    await Promise.all([lateAfter(clock, ms, first), second]);
  }
  // The running operations hang for ever here.
  assert.equal(began, 3);
});

test("what fails after a change was sent says that the change may be made, and nothing else does", async () => {
  const failure = new PembaError("UNAVAILABLE", "the database does not answer");
  const failing = (sends: boolean): Store => {
    const store = silentStore();
    const failingWrite = async (): Promise<never> => {
      if (sends) presentCaller()?.sendsChange();
      throw failure;
    };
    return limited({ ...store, data: { ...store.data, write: failingWrite } });
  };
  await fails(write(failing(true), tenant), "UNAVAILABLE", "may be made or may not");
  assert.equal(await fails(write(failing(false), tenant), "UNAVAILABLE"), failure);
});

test("what is given up learns of it", async (t) => {
  const clock = stopClocks(t);
  let signal: AbortSignal | undefined;
  const store = silentStore();
  const reporting: Store = {
    ...store,
    permissions: {
      ...store.permissions,
      check: async (_tenant, question) => {
        ({ signal } = question);
        return await Promise.withResolvers<never>().promise;
      },
    },
  };
  await lateAfter(clock, readMs, check(limited(reporting), tenant));
  assert.ok(signal?.aborted);
});

test("a change that is late gives up the other work of its caller", async (t) => {
  const clock = stopClocks(t);
  const caller = new Caller(new AbortController());
  const late = forCaller(caller, () => write(limited(silentStore()), tenant));
  await lateAfter(clock, changeMs, late);
  assert.ok(caller.signal.aborted);
});

test("a caller who leaves is known to have left", async (t) => {
  // The change is not waited for, so its time must not end.
  stopClocks(t);
  const leaving = new AbortController();
  const callers: (Caller | undefined)[] = [];
  const store = limited(silentStore((caller) => callers.push(caller)));
  void forCaller(new Caller(leaving), () => write(store, tenant));
  await new Promise(setImmediate);
  assert.equal(callers[0]?.signal.aborted, false);
  leaving.abort();
  assert.equal(callers[0]?.signal.aborted, true);
});

test("what ends in time is answered as without a limit, and so are errors", async (t) => {
  const memory = createMemoryStore({ maxSchemaCacheBytes: 1_000_000, watch: { readAheadMax: 10 } });
  t.after(async () => await memory.close());
  const store = limited(memory);
  const known = await tenantWithSchema(store);
  assert.equal((await store.schemas.list(known, { before: undefined, limit: 1 })).items.length, 1);
  await check(store, known);
  await fails(check(store, tenantId("missing")), "TENANT_NOT_FOUND");
  await fails(store.tenants.delete(tenantId("missing")), "TENANT_NOT_FOUND");
});
