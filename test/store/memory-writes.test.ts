/**
 * Writes of the memory engine that find very much, or look at very much: other requests run meanwhile,
 * see all of a write or nothing of it, and no other write is lost.
 */
import assert from "node:assert/strict";
import { after, before, mock, test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { emptyContext, type SnapToken, type TenantId } from "../../src/base/tuple.ts";
import type { DataChange } from "../../src/store/data-change.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { apply, follow, textOf } from "./change-streams.ts";
import {
  attribute,
  fails,
  newTenant,
  schemaText,
  tenantWithSchema,
  tuple,
  write,
} from "./engines.ts";
import { attributeFilter, tupleFilter } from "./filters.ts";

const documents = 4_000;
const filtersOfChange = 100;

let store: Store;

before(() => {
  // Each look at the clock finds that a time slice is over, however fast the machine is.
  let now = 0;
  mock.method(performance, "now", () => (now += 1_000));
  store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000, watch: { readAheadMax: 5 } });
});

after(() => mock.reset());

const nothing: DataChange = {
  schemaVersion: undefined,
  preconditions: [],
  tupleFilters: [],
  attributeFilters: [],
  tuples: [],
  attributes: [],
};

const owner = (id: string): string => `doc:${id}#owner@user:a`;
const ends = ["0", String(documents / 2), String(documents - 1)];

/** A tenant with very many documents. */
async function largeTenant(): Promise<TenantId> {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, {
    tuples: Array.from({ length: documents }, (_, id) => owner(String(id))),
    attributes: ends.map((id) => attribute("limit", { type: "integer", data: 1 }, id)),
  });
  return tenant;
}

/** Deletes everything, and then creates one tuple. */
async function replaceAll(tenant: TenantId): Promise<SnapToken> {
  return await store.data.change(tenant, {
    ...nothing,
    tupleFilters: [tupleFilter({ type: "doc" })],
    attributeFilters: [attributeFilter({ type: "doc" })],
    tuples: [tuple(owner("new"))],
  });
}

/** Work that is not over after some rounds of the event loop. */
async function begin<T>(
  work: () => Promise<T>,
): Promise<{ readonly over: Promise<T>; readonly isOver: () => boolean }> {
  let isOver = false;
  const over = work().finally(() => (isOver = true));
  over.catch(() => {});
  for (let round = 0; round < 3; round++) await nextRound();
  assert.ok(!isOver, "it was over at once");
  return { over, isOver: () => isOver };
}

/** How many of some tuples stand, in one state. */
async function countOf(tenant: TenantId, ids: readonly string[], at?: SnapToken): Promise<number> {
  const page = await store.data.readTuples(tenant, {
    filter: tupleFilter({ type: "doc", ids }),
    snapToken: at,
    after: undefined,
    limit: 10,
  });
  return page.items.length;
}

/** How many documents a user may view. */
async function seen(tenant: TenantId, id: string): Promise<boolean> {
  const [answer] = await store.permissions.check(tenant, {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 10,
    context: emptyContext,
    items: [
      {
        entity: { type: "doc", id },
        permission: "owner",
        subject: { type: "user", id: "a", relation: "" },
        arguments: [],
      },
    ],
    path: (_, field) => field,
  });
  return answer?.allowed ?? assert.fail("no answer");
}

test("other requests run during a change, and see nothing of it before all is done", async () => {
  const tenant = await largeTenant();
  const earlier = await write(store, tenant, { tuples: [owner("0")] });
  const follower = await follow(store, tenant, earlier);
  const { over, isOver } = await begin(async () => await replaceAll(tenant));
  const other = await tenantWithSchema(store);
  let looks = 0;
  let between: SnapToken | undefined;
  while (!isOver()) {
    // The state that the token of another write names is the same before and after.
    between = await write(store, other, { tuples: [owner(String(looks))] });
    const [count, created] = [await countOf(tenant, ends), await seen(tenant, "new")];
    if (isOver()) break;
    assert.deepEqual([count, created], [3, false]);
    assert.equal(await countOf(tenant, ends, between), 3);
    looks++;
    await nextRound();
  }
  assert.ok(looks > 1, `${looks} looks`);
  const token = await over;
  assert.deepEqual([await countOf(tenant, ends), await seen(tenant, "new")], [0, true]);
  for (const [at, count] of [
    [earlier, 3],
    [between, 3],
    [token, 0],
  ] as const) {
    assert.equal(await countOf(tenant, ends, at), count);
  }
  const told: string[] = [];
  let last: SnapToken | undefined;
  while (last !== token) {
    const message = await follower.next();
    told.push(...textOf(message));
    last = message.snapToken;
  }
  await follower.leave();
  assert.equal(told.length, documents + ends.length + 1);
  assert.equal(told.at(-1), `+${owner("new")}`);
});

test("what is written while a change is under way comes after it", async () => {
  const tenant = await largeTenant();
  const start = await write(store, tenant, { tuples: [owner("0")] });
  const { over, isOver } = await begin(async () => await replaceAll(tenant));
  const made = [
    write(store, tenant, { tuples: [owner("1")] }),
    store.data.delete(tenant, { tuples: tupleFilter({ ids: ["new"] }), attributes: undefined }),
    write(store, tenant, { attributes: [attribute("limit", { type: "integer", data: 2 })] }),
  ];
  assert.ok(!isOver());
  const tokens = [await over, ...(await Promise.all(made))];
  assert.equal(new Set(tokens).size, 4);
  const state = new Set([
    ...Array.from({ length: documents }, (_, id) => owner(String(id))),
    ...ends.map((id) => `doc:${id}$limit=1`),
  ]);
  const follower = await follow(store, tenant, start);
  for (let last = start; last !== tokens.at(-1);) {
    const message = await follower.next();
    for (const text of textOf(message)) apply(state, text);
    last = message.snapToken;
  }
  await follower.leave();
  assert.deepEqual([...state], [owner("1"), "doc:1$limit=2"]);
});

test("a precondition is decided when the changes before it are done", async () => {
  const tenant = await largeTenant();
  const { over } = await begin(async () => await replaceAll(tenant));
  const change = store.data.change(tenant, {
    ...nothing,
    preconditions: [
      { kind: "tuple", tuple: tuple(owner("new")), exists: true },
      { kind: "tuple", tuple: tuple(owner("7")), exists: true },
    ],
    tuples: [tuple(owner("8"))],
  });
  const error = await fails(change, "PRECONDITION_FAILED");
  assert.deepEqual(
    error.details.map(({ field }) => field),
    ["preconditions[1].tuple"],
  );
  await over;
});

test("a write that waits for another one fits the schema that is in force then", async () => {
  const tenant = await largeTenant();
  await begin(async () => await replaceAll(tenant));
  const waiting = write(store, tenant, { tuples: [owner("1")] });
  await nextRound();
  await store.schemas.write(tenant, { text: "entity user {} entity doc {}" });
  await fails(waiting, "RELATION_DEFINITION_NOT_FOUND");
});

test("a bundle that is replaced while it waits is run as it is then", async () => {
  const tenant = await largeTenant();
  const empty = { tuples: [], attributes: [], deletedTuples: [], deletedAttributes: [] };
  const bundle = (argument: string) => ({ name: "b", arguments: [argument], operations: [] });
  await store.bundles.write(tenant, [bundle("one")]);
  await begin(async () => await replaceAll(tenant));
  const running = store.bundles.run(tenant, "b", (found) => [
    { ...empty, tuples: [tuple(owner(found.arguments.join()))] },
  ]);
  await nextRound();
  await store.bundles.write(tenant, [bundle("two")]);
  await running;
  assert.deepEqual([await seen(tenant, "one"), await seen(tenant, "two")], [false, true]);
});

test("the end of its tenant ends a change, and a tenant of the same id gets nothing of it", async () => {
  const tenant = await largeTenant();
  const { over } = await begin(async () => await replaceAll(tenant));
  const waiting = write(store, tenant, { tuples: [owner("1")] });
  await nextRound();
  await store.tenants.delete(tenant);
  await store.tenants.create({ id: tenant, name: "" });
  await store.schemas.write(tenant, { text: schemaText });
  await fails(over, "TENANT_NOT_FOUND");
  // It goes to the tenant that has the id when it begins.
  await waiting;
  assert.deepEqual([await seen(tenant, "new"), await seen(tenant, "1")], [false, true]);
});

for (const [name, isWrite, work] of [
  [
    "a change with very many open filters",
    true,
    async (tenant: TenantId): Promise<unknown> =>
      await store.data.change(tenant, {
        ...nothing,
        tupleFilters: Array.from({ length: filtersOfChange }, (_, nth) => ({
          entity: { type: "", ids: [] },
          relation: "viewer",
          subject: { type: "", ids: [], relation: nth % 2 === 0 ? "member" : "" },
        })),
      }),
  ],
  [
    "a delete by an open filter",
    true,
    async (tenant: TenantId): Promise<unknown> =>
      await store.data.delete(tenant, {
        tuples: tupleFilter({ type: "doc" }),
        attributes: undefined,
      }),
  ],
  [
    "a read with an open filter",
    false,
    async (tenant: TenantId): Promise<unknown> =>
      await store.data.readTuples(tenant, {
        filter: tupleFilter({}),
        snapToken: undefined,
        after: undefined,
        limit: 10,
      }),
  ],
  [
    "a read of attributes with an open filter",
    false,
    async (tenant: TenantId): Promise<unknown> =>
      await store.data.readAttributes(tenant, {
        filter: attributeFilter({}),
        snapToken: undefined,
        after: undefined,
        limit: 10,
      }),
  ],
] as const) {
  test(`other work runs during ${name}`, async () => {
    const tenant = isWrite ? await largeTenant() : await newTenant(store);
    if (!isWrite) {
      await store.schemas.write(tenant, { text: schemaText });
      await write(store, tenant, {
        tuples: Array.from({ length: documents }, (_, id) => owner(String(id))),
        attributes: Array.from({ length: documents }, (_, id) =>
          attribute("limit", { type: "integer", data: 1 }, String(id)),
        ),
      });
    }
    const { over } = await begin(async () => await work(tenant));
    await over;
  });
}
