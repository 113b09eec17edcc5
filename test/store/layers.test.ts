/** How layers stand around a store: on which operations they act, and in which order. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { emptyContext } from "../../src/base/tuple.ts";
import { type Around, type Layer, withLayer } from "../../src/store/layer/layer.ts";
import { mapOperations } from "../../src/store/layer/make-operations.ts";
import type { OperationName } from "../../src/store/layer/operation.ts";
import { type Layers, withLayers } from "../../src/store/layer/order.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { CheckQuestion, Store } from "../../src/store/store.ts";

const tenant = "t1" as TenantId;
const other = "t2" as TenantId;

const question: CheckQuestion = {
  schemaVersion: undefined,
  snapToken: undefined,
  depth: 1,
  context: emptyContext,
  items: [],
  path: (_item, field) => field,
};

/** A store that fails every operation with its name. */
function naming(): Store {
  return mapOperations(createMemoryStore({ maxSchemaCacheBytes: 1_000 }), (name) => async () => {
    throw new Error(name);
  });
}

/** One request of each operation; what they ask does not matter. */
const requests: { readonly [N in OperationName]: (store: Store) => Promise<unknown> } = {
  "tenants.create": (store) => store.tenants.create({ id: tenant, name: "" }),
  "tenants.delete": (store) => store.tenants.delete(tenant),
  "tenants.list": (store) => store.tenants.list({ after: undefined, limit: 1 }),
  "schemas.write": (store) => store.schemas.write(tenant, { text: "" }),
  "schemas.read": (store) => store.schemas.read(tenant, undefined),
  "schemas.list": (store) => store.schemas.list(tenant, { before: undefined, limit: 1 }),
  "data.write": (store) =>
    store.data.write(tenant, { schemaVersion: undefined, tuples: [], attributes: [] }),
  "data.delete": (store) => store.data.delete(tenant, { tuples: undefined, attributes: undefined }),
  "data.change": (store) =>
    store.data.change(tenant, {
      schemaVersion: undefined,
      preconditions: [],
      tupleFilters: [],
      attributeFilters: [],
      tuples: [],
      attributes: [],
    }),
  "data.readTuples": (store) => store.data.readTuples(tenant, { ...page, filter: tupleFilter }),
  "data.readAttributes": (store) =>
    store.data.readAttributes(tenant, { ...page, filter: attributeFilter }),
  "bundles.write": (store) => store.bundles.write(tenant, []),
  "bundles.read": (store) => store.bundles.read(tenant, ""),
  "bundles.list": (store) => store.bundles.list(tenant, { after: undefined, limit: 1 }),
  "bundles.delete": (store) => store.bundles.delete(tenant, ""),
  "bundles.run": (store) => store.bundles.run(tenant, "", () => []),
  "permissions.check": (store) => store.permissions.check(tenant, question),
  "permissions.subjectPermissions": (store) =>
    store.permissions.subjectPermissions(tenant, { ...subjects, onlyPermission: false }),
  "permissions.expand": (store) =>
    store.permissions.expand(tenant, { ...question, entity, permission: "", arguments: [] }),
  "permissions.explain": (store) =>
    store.permissions.explain(tenant, {
      ...question,
      item: { entity, permission: "", subject: { ...entity, relation: "" }, arguments: [] },
    }),
  "lookups.entities": (store) =>
    store.lookups.entities(tenant, {
      ...subjects,
      ...page,
      entityType: "",
      permission: "",
      scope: new Map(),
    }),
  "lookups.subjects": (store) =>
    store.lookups.subjects(tenant, {
      ...subjects,
      ...page,
      permission: "",
      arguments: [],
      subjectType: "",
      subjectRelation: "",
    }),
  "changes.follow": (store) =>
    store.changes.follow(tenant, { after: undefined, signal: new AbortController().signal }),
};

const entity = { type: "doc", id: "1" };
const subjects = { ...question, entity, subject: { type: "user", id: "a", relation: "" } };
const page = { snapToken: undefined, after: undefined, limit: 1 };
const attributeFilter = { entity: { type: "", ids: [] }, attributes: [] };
const tupleFilter = {
  entity: { type: "", ids: [] },
  relation: "",
  subject: { type: "", ids: [], relation: "" },
};

test("every operation goes through the layer of its kind once, for its tenant, and to its method", async () => {
  const passed: string[] = [];
  const noting =
    (kind: string): Around =>
    async (operation, asked, next) => {
      passed.push(`${kind} of ${operation.tenantOf(asked)}`);
      return await next(asked);
    };
  const store = withLayer(naming(), {
    question: noting("question"),
    lookup: noting("lookup"),
    read: noting("read"),
    change: noting("change"),
  });
  for (const [name, ask] of Object.entries(requests)) {
    await assert.rejects(ask(store), new Error(name));
  }
  assert.deepEqual(passed, [
    "change of t1",
    "change of t1",
    "read of undefined",
    "change of t1",
    "read of t1",
    "read of t1",
    "change of t1",
    "change of t1",
    "change of t1",
    "read of t1",
    "read of t1",
    "change of t1",
    "read of t1",
    "read of t1",
    "change of t1",
    "change of t1",
    "question of t1",
    "question of t1",
    "question of t1",
    "question of t1",
    "lookup of t1",
    "lookup of t1",
    "read of t1",
  ]);
});

test("a layer that names an operation acts on it in that way alone, and may ask something else", async () => {
  const asked: TenantId[] = [];
  const store = naming();
  const engine: Store = {
    ...store,
    permissions: {
      ...store.permissions,
      check: async (of) => {
        asked.push(of);
        return [];
      },
    },
  };
  const layer: Layer = {
    question: async () => await Promise.reject(new Error("the kind acted")),
    only: { "permissions.check": async ([, given], next) => await next([other, given]) },
  };
  const layered = withLayer(engine, layer);
  assert.deepEqual(await layered.permissions.check(tenant, question), []);
  assert.deepEqual(asked, [other]);
  await assert.rejects(requests["permissions.expand"](layered), new Error("the kind acted"));
});

test("layers stand in one order, in whichever they are given", async () => {
  const entered: string[] = [];
  const named = (name: string): Layer => ({
    question: async (_operation, given, next) => {
      entered.push(name);
      return await next(given);
    },
  });
  const layers: Layers = {
    batching: named("batching"),
    questions: named("questions"),
    observation: undefined,
    forwarding: named("forwarding"),
    answerCache: named("answerCache"),
    time: named("time"),
  };
  const store = withLayers(naming(), layers);
  await assert.rejects(store.permissions.check(tenant, question), new Error("permissions.check"));
  assert.deepEqual(entered, ["time", "forwarding", "questions", "answerCache", "batching"]);
});

test("a layer replaces the signal of a request that brings one, and of no other", async () => {
  const { signal } = new AbortController();
  const seen: unknown[] = [];
  const replacing: Around = async (operation, asked, next) => {
    seen.push(operation.signalOf(operation.withSignal(asked, signal)));
    return await next(asked);
  };
  const store = withLayer(naming(), { question: replacing, read: replacing });
  for (const name of ["permissions.check", "data.readTuples", "changes.follow"] as const) {
    await assert.rejects(requests[name](store));
  }
  assert.deepEqual(seen, [signal, signal, undefined]);
});
