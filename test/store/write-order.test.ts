/**
 * Writes that overlap, each put into its place by an open transaction of the test's own, and what
 * their tokens and the log say of them afterwards.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { Attribute, SnapToken, TenantId } from "../../src/base/tuple.ts";
import { decodeSnapToken } from "../../src/store/postgres/token/snap-token-codec.ts";
import { printSnapshot } from "../../src/store/postgres/token/snapshot.ts";
import type { Store } from "../../src/store/store.ts";
import { snapMac } from "../support/token-key.ts";
import { changesOf, replay, storedState } from "./change-log.ts";
import {
  allowed,
  attribute,
  fails,
  openPostgres,
  openStore,
  schemaText,
  tenantWithSchema,
  tuple,
  write,
} from "./engines.ts";
import { beginDelete, beginWrite, connect, untilWaiting } from "./open-write.ts";

let open: Awaited<ReturnType<typeof openPostgres>>;
let store: Store;
let sql: postgres.Sql;

before(async () => {
  open = await openPostgres({ maxRetries: 0 });
  store = open.store;
  sql = connect(open.url);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await open.close();
});

function limit(data: number, id = "1"): Attribute {
  return attribute("limit", { type: "integer", data }, id);
}

/** The subjects of the tenant's tuples whose creation is visible at the token. */
async function visibleSubjects(tenant: TenantId, token: SnapToken): Promise<readonly string[]> {
  const { snapshot } = decodeSnapToken(snapMac, token) ?? assert.fail("no token");
  const rows = await sql<{ subject: string }[]>`
    select subject_id as subject from relationships
    where tenant = (select number from tenants where id = ${tenant})
      and pg_visible_in_snapshot(created_xid, ${printSnapshot(snapshot)}::text::pg_snapshot)
    order by 1
  `;
  return rows.map(({ subject }) => subject);
}

/** A single tuple is written another way into a tenant that the store has written into before. */
const acquaintances: readonly {
  readonly how: string;
  readonly tenantOf: () => Promise<TenantId>;
}[] = [
  { how: "of a tenant that is new to the store", tenantOf: () => tenantWithSchema(store) },
  {
    how: "of a tenant that the store knows",
    tenantOf: async () => {
      const tenant = await tenantWithSchema(store);
      await write(store, tenant, {});
      return tenant;
    },
  },
];

test("a write of very many tuples waits for a delete of one of them before it has an id", async () => {
  const tenant = await tenantWithSchema(store);
  const tuples = Array.from({ length: 600 }, (_, index) => `doc:${index}#owner@user:a`);
  await write(store, tenant, { tuples: tuples.slice(300, 301) });
  const deleting = await beginDelete(sql, tenant, "doc:300#owner@user:a");
  const writing = write(store, tenant, { tuples });
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
  await deleting.commit();
  await writing;
  const state = await storedState(sql, tenant);
  assert.equal(state.size, tuples.length);
  assert.deepEqual(replay(await changesOf(sql, tenant)), state);
});

for (const { how, tenantOf } of acquaintances) {
  test(`the token of a tuple that another transaction was just creating shows it, ${how}`, async () => {
    const tenant = await tenantOf();
    const other = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:a"] });
    const writing = write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
    const [waiting] = await untilWaiting(sql, 1);
    assert.equal(waiting?.lock, "transactionid");
    await other.commit();
    const token = await writing;
    assert.deepEqual(await visibleSubjects(tenant, token), ["a"]);
    const asked = { id: "1", permission: "view", subject: "a", at: token };
    assert.equal(await allowed(store, tenant, asked), true);
    assert.equal((await changesOf(sql, tenant)).length, 1);
  });

  test(`a transaction that was open at a token never shows in it, also when its id is lower, ${how}`, async () => {
    const tenant = await tenantOf();
    const early = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:early"] });
    const token = await write(store, tenant, { tuples: ["doc:1#owner@user:late"] });
    assert.deepEqual(await visibleSubjects(tenant, token), ["late"]);
    await early.commit();
    assert.deepEqual(await visibleSubjects(tenant, token), ["late"]);
    const asked = { id: "1", permission: "view", subject: "early" };
    assert.equal(await allowed(store, tenant, { ...asked, at: token }), false);
    assert.equal(await allowed(store, tenant, asked), true);
  });

  test(`a tenant is deleted after those who write into it, and before those who come later, ${how}`, async () => {
    const tenant = await tenantOf();
    const writer = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:a"] });
    const deleting = store.tenants.delete(tenant);
    assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
    const late = write(store, tenant, { tuples: ["doc:1#owner@user:b"] });
    const refused = fails(late, "TENANT_NOT_FOUND");
    await untilWaiting(sql, 2);
    await writer.commit();
    await deleting;
    await refused;
  });

  test(`a tuple that was being deleted while it was written is there and logged, ${how}`, async () => {
    const tenant = await tenantOf();
    const created = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:a"] });
    await created.commit();
    const deleting = await beginDelete(sql, tenant, "doc:1#owner@user:a");
    const writing = write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
    await untilWaiting(sql, 1);
    await deleting.commit();
    assert.deepEqual(await visibleSubjects(tenant, await writing), ["a"]);
    assert.deepEqual(replay(await changesOf(sql, tenant)), await storedState(sql, tenant));
  });

  test(`a tuple is written when the schema has changed elsewhere, and refused when it no longer fits, ${how}`, async () => {
    const tenant = await tenantOf();
    const other = await openStore(open.url);
    try {
      await other.schemas.write(tenant, { text: `${schemaText} entity more {}` });
      await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      await other.schemas.write(tenant, { text: "entity user {}" });
      await fails(
        write(store, tenant, { tuples: ["doc:1#owner@user:b"] }),
        "ENTITY_TYPE_NOT_FOUND",
      );
    } finally {
      await other.close();
    }
    assert.equal((await changesOf(sql, tenant)).length, 1);
  });

  test(`a tuple goes into the tenant that has the id now, ${how}`, async () => {
    const tenant = await tenantOf();
    const other = await openStore(open.url);
    try {
      await other.tenants.delete(tenant);
      await other.tenants.create({ id: tenant, name: "" });
      await other.schemas.write(tenant, { text: schemaText });
      await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      await write(store, tenant, { tuples: ["doc:1#owner@user:b"] });
    } finally {
      await other.close();
    }
    assert.equal((await changesOf(sql, tenant)).length, 2);
  });
}

test("a writer that waits for a key has no transaction id yet, so the log replays in their order", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { attributes: [limit(0)] });
  const other = await beginWrite(sql, tenant, { attributes: [limit(1)] });
  const writing = write(store, tenant, {
    tuples: ["doc:1#owner@user:a"],
    attributes: [limit(2)],
  });
  const [waiting] = await untilWaiting(sql, 1);
  assert.deepEqual(waiting, { lock: "advisory", hasXid: false });
  // Takes an id in between, which the waiting one must not lie below.
  await write(store, tenant, { tuples: ["doc:2#owner@user:b"] });
  await other.commit();
  await writing;
  const changes = await changesOf(sql, tenant);
  assert.deepEqual(replay(changes), await storedState(sql, tenant));
  assert.deepEqual(
    changes
      .filter(({ key }) => key === "doc 1 limit")
      .map(({ operation, value }) => `${operation} ${value}`),
    ["create integer0", "delete integer0", "create integer1", "delete integer1", "create integer2"],
  );
});

test("of a batch that another transaction was just creating a part of, the others are created and logged", async () => {
  const tenant = await tenantWithSchema(store);
  const batch = ["a", "b", "c", "d"].map((name) => `doc:1#owner@user:${name}`);
  const other = await beginWrite(sql, tenant, { tuples: batch.slice(1, 3) });
  const writing = write(store, tenant, { tuples: batch });
  const [waiting] = await untilWaiting(sql, 1);
  assert.equal(waiting?.lock, "transactionid");
  await other.commit();
  const token = await writing;
  assert.deepEqual(await visibleSubjects(tenant, token), ["a", "b", "c", "d"]);
  const changes = await changesOf(sql, tenant);
  assert.deepEqual(replay(changes), await storedState(sql, tenant));
  const subjects = (xid: string | undefined): readonly string[] =>
    changes.filter((change) => change.xid === xid).map(({ key }) => key.split(" ").at(-2) ?? "");
  assert.deepEqual(subjects(changes[0]?.xid), ["b", "c"]);
  assert.deepEqual(subjects(changes.at(-1)?.xid), ["a", "d"]);
});

test("of a batch that another transaction creates in vain, all are created", async () => {
  const tenant = await tenantWithSchema(store);
  const batch = ["a", "b", "c"].map((name) => `doc:1#owner@user:${name}`);
  const other = await beginWrite(sql, tenant, { tuples: batch.slice(1) });
  const writing = write(store, tenant, { tuples: batch });
  await untilWaiting(sql, 1);
  await other.undo();
  assert.deepEqual(await visibleSubjects(tenant, await writing), ["a", "b", "c"]);
  assert.equal((await changesOf(sql, tenant)).length, 3);
});

test("what a batch has twice or finds there is neither created nor logged again", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  const some = ["c", "a", "b", "b", "c"].map((name) => `doc:1#owner@user:${name}`);
  const token = await write(store, tenant, { tuples: some, attributes: [limit(1)] });
  assert.deepEqual(await visibleSubjects(tenant, token), ["a", "b", "c"]);
  assert.deepEqual(replay(await changesOf(sql, tenant)), await storedState(sql, tenant));
  const rows = await sql<{ ordinal: number }[]>`
    select ordinal from changes where tenant = (select number from tenants where id = ${tenant})
    order by xid, ordinal
  `;
  assert.deepEqual(
    rows.map(({ ordinal }) => ordinal),
    [0, 0, 1, 2],
  );
});

test("the token of a write that changes nothing shows all that was committed before it", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  const running = await beginWrite(sql, tenant, { tuples: ["doc:1#owner@user:b"] });
  const token = await write(store, tenant, {});
  await running.commit();
  assert.deepEqual(await visibleSubjects(tenant, token), ["a"]);
});

test("an overwrite is logged as the delete of the true old value and the create of the new one", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { attributes: [limit(1), limit(1, "2")] });
  await write(store, tenant, { attributes: [limit(1), limit(2, "2"), limit(3, "3")] });
  const changes = await changesOf(sql, tenant);
  assert.deepEqual(
    changes.map(({ operation, key, value }) => `${operation} ${key} ${value}`),
    [
      "create doc 1 limit integer1",
      "create doc 2 limit integer1",
      "delete doc 2 limit integer1",
      "create doc 2 limit integer2",
      "create doc 3 limit integer3",
    ],
  );
  assert.deepEqual(replay(changes), await storedState(sql, tenant));
});

test("values are stored as they were written", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, {
    attributes: [
      attribute("tags", { type: "string[]", data: ["a,b", '"', "\\", "ä", ""] }),
      attribute("score", { type: "double", data: Number.NaN }),
      attribute("score", { type: "double", data: 0.1 }, "2"),
      attribute("score", { type: "double", data: -Infinity }, "3"),
    ],
  });
  const rows = await sql<{ value: unknown }[]>`
    select value from attributes
    where tenant = (select number from tenants where id = ${tenant})
    order by attribute, entity_id
  `;
  assert.deepEqual(
    rows.map(({ value }) => value),
    ["NaN", 0.1, "-Infinity", ["a,b", '"', "\\", "ä", ""]],
  );
});

test("writers who create the same tuples in opposite orders never deadlock", async () => {
  const tenant = await tenantWithSchema(store);
  const tuples = Array.from({ length: 500 }, (_, index) => `doc:${index}#owner@user:a`);
  // Without a retry: a single deadlock would fail its write.
  await Promise.all(
    Array.from({ length: 16 }, (_, writer) =>
      write(store, tenant, { tuples: writer % 2 === 0 ? tuples : tuples.toReversed() }),
    ),
  );
  const changes = await changesOf(sql, tenant);
  assert.deepEqual(replay(changes), await storedState(sql, tenant));
  assert.equal(changes.length, tuples.length);
});

/** Runs a bundle with one operation for each list of tuples, which it creates. */
async function createInTurn(
  tenant: TenantId,
  operations: readonly (readonly string[])[],
): Promise<SnapToken> {
  await store.bundles.write(tenant, [{ name: "creates", arguments: [], operations: [] }]);
  return await store.bundles.run(tenant, "creates", () =>
    operations.map((tuples) => ({
      tuples: tuples.map(tuple),
      attributes: [],
      deletedTuples: [],
      deletedAttributes: [],
    })),
  );
}

test("a bundle that creates in several operations waits for its keys before it creates any", async () => {
  const tenant = await tenantWithSchema(store);
  const other = await beginWrite(sql, tenant, { tuples: ["doc:2#owner@user:a"] });
  const running = createInTurn(tenant, [["doc:1#owner@user:a"], [], ["doc:2#owner@user:a"]]);
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
  await other.commit();
  await running;
});

test("bundles that create the same tuples in opposite orders never deadlock", async () => {
  const tenant = await tenantWithSchema(store);
  for (let round = 0; round < 5; round++) {
    const parts = ["a", "b"].map((part) =>
      Array.from({ length: 40 }, (_, nth) => `doc:${round}${part}${nth}#owner@user:a`),
    );
    // Without a retry: a single deadlock would fail its bundle.
    await Promise.all([createInTurn(tenant, parts), createInTurn(tenant, parts.toReversed())]);
  }
});

test("writers of the same keys in any order never deadlock, and the log replays to what is stored", async () => {
  const tenant = await tenantWithSchema(store);
  const keys = Array.from({ length: 30 }, (_, index) => String(index));
  const rotated = (by: number): readonly string[] => [...keys.slice(by), ...keys.slice(0, by)];
  // Without a retry: a single deadlock would fail its write.
  await Promise.all(
    keys.map((_, writer) => {
      const order = writer % 2 === 0 ? rotated(writer) : rotated(writer).toReversed();
      return write(store, tenant, {
        tuples: order.map((key) => `doc:${key}#owner@user:a`),
        attributes: order.slice(0, 10).map((key) => limit(writer, key)),
      });
    }),
  );
  const changes = await changesOf(sql, tenant);
  assert.deepEqual(replay(changes), await storedState(sql, tenant));
  assert.equal(changes.filter(({ key }) => key.includes("owner")).length, keys.length);
});

test("a tuple of a tenant that the store knows takes one statement, also when it is there", async () => {
  const statements: string[] = [];
  const other = await openStore(open.url, {
    // Other things are asked in the background.
    onStatement: (text) =>
      text.includes("from write_data(") || text.includes("write_tuple(")
        ? statements.push(text)
        : undefined,
  });
  try {
    const tenant = await tenantWithSchema(other);
    await write(other, tenant, {});
    for (const name of ["a", "a", "b"]) {
      statements.length = 0;
      await write(other, tenant, { tuples: [`doc:1#owner@user:${name}`] });
      assert.deepEqual(
        statements.map((text) => text.includes("write_tuple(")),
        [true],
      );
    }
    assert.equal((await changesOf(sql, tenant)).length, 2);
  } finally {
    await other.close();
  }
});
