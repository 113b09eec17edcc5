/**
 * Changes of data beside writers whose transactions are open: a precondition is decided after them,
 * or holds until the change is committed.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { DataChange } from "../../src/store/data-change.ts";
import type { Store } from "../../src/store/store.ts";
import { changesOf, replay, storedState } from "./change-log.ts";
import { stateAt } from "./change-streams.ts";
import { fails, openPostgres, openStore, tenantWithSchema, tuple, write } from "./engines.ts";
import { beginDelete, beginWrite, connect, untilWaiting } from "./open-write.ts";

let open: Awaited<ReturnType<typeof openPostgres>>;
let store: Store;
let sql: postgres.Sql;

before(async () => {
  open = await openPostgres();
  store = open.store;
  sql = connect(open.url);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await open.close();
});

const nothing: DataChange = {
  schemaVersion: undefined,
  preconditions: [],
  tupleFilters: [],
  attributeFilters: [],
  tuples: [],
  attributes: [],
};

const seat = "doc:1#owner@user:a";

/** Writes a tuple if the seat is taken or not. */
async function writeIf(
  tenant: TenantId,
  exists: boolean,
  text = "doc:2#owner@user:b",
): Promise<SnapToken> {
  return await store.data.change(tenant, {
    ...nothing,
    preconditions: [{ kind: "tuple", tuple: tuple(seat), exists }],
    tuples: [tuple(text)],
  });
}

async function storedIn(tenant: TenantId): Promise<readonly string[]> {
  return [...(await stateAt(store, tenant, undefined))].toSorted();
}

test("a tuple that is just being deleted is waited for, and does not exist then", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [seat] });
  const deleting = await beginDelete(sql, tenant, seat);
  const refused = fails(writeIf(tenant, true), "PRECONDITION_FAILED");
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
  await deleting.commit();
  await refused;
  assert.deepEqual(await storedIn(tenant), []);
});

test("a tuple that is just being written is waited for, and exists then", async () => {
  const tenant = await tenantWithSchema(store);
  const writing = await beginWrite(sql, tenant, { tuples: [seat] });
  const refused = fails(writeIf(tenant, false), "PRECONDITION_FAILED");
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
  await writing.commit();
  await refused;
  assert.deepEqual(await storedIn(tenant), [seat]);
});

test("a writer that breaks off leaves the precondition as it was", async () => {
  const tenant = await tenantWithSchema(store);
  const writing = await beginWrite(sql, tenant, { tuples: [seat] });
  const changing = writeIf(tenant, false);
  await untilWaiting(sql, 1);
  await writing.undo();
  await changing;
  assert.deepEqual(await storedIn(tenant), ["doc:2#owner@user:b"]);
});

test("a state is decided after every open writer of the tenant", async () => {
  const tenant = await tenantWithSchema(store);
  const since = await write(store, tenant, {});
  const writing = await beginWrite(sql, tenant, { tuples: ["doc:3#owner@user:c"] });
  const change = { ...nothing, tuples: [tuple(seat)] };
  const preconditions = [{ kind: "unchanged", since }] as const;
  const refused = fails(
    store.data.change(tenant, { ...change, preconditions }),
    "PRECONDITION_FAILED",
  );
  assert.deepEqual(await untilWaiting(sql, 1), [{ lock: "advisory", hasXid: false }]);
  await writing.commit();
  await refused;
});

test("writers of other keys are not waited for", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [seat] });
  const writing = await beginWrite(sql, tenant, { tuples: ["doc:3#viewer@user:c"] });
  await store.data.change(tenant, {
    ...nothing,
    preconditions: [{ kind: "tuple", tuple: tuple(seat), exists: true }],
    tupleFilters: [
      {
        entity: { type: "doc", ids: ["1"] },
        relation: "owner",
        subject: { type: "user", ids: ["a"], relation: "" },
      },
    ],
    tuples: [tuple("doc:2#owner@user:b")],
  });
  await writing.commit();
  assert.deepEqual(await storedIn(tenant), ["doc:2#owner@user:b", "doc:3#viewer@user:c"]);
});

/** Writes or deletes tuples without the locks that others take, and leaves the transaction open. */
async function beginWithoutLocks(
  tenant: TenantId,
  changes: readonly { readonly operation: "create" | "delete"; readonly text: string }[],
): Promise<{ readonly commit: () => Promise<void> }> {
  const connection = await sql.reserve();
  await connection`begin`;
  for (const [ordinal, { operation, text }] of changes.entries()) {
    const { entity, relation, subject } = tuple(text);
    if (operation === "create") {
      await connection`
        insert into relationships
        select number, ${entity.type}, ${entity.id}, ${relation}, ${subject.type}, ${subject.id}, '',
          pg_current_xact_id()
        from tenants where id = ${tenant}
      `;
    } else {
      await connection`
        delete from relationships
        where tenant = (select number from tenants where id = ${tenant})
          and entity_id = ${entity.id} and relation = ${relation} and subject_id = ${subject.id}
      `;
    }
    await connection`
      insert into changes (
        tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
        subject_relation
      )
      select number, pg_current_xact_id(), ${ordinal}, ${operation}, ${entity.type}, ${entity.id},
        ${relation}, ${subject.type}, ${subject.id}, ''
      from tenants where id = ${tenant}
    `;
  }
  return {
    commit: async () => {
      await connection`commit`;
      connection.release();
    },
  };
}

test("a transaction without locks that breaks a precondition during the change has it decided anew", async () => {
  const met = "doc:2#owner@user:b";
  const cases = [
    { exists: false, before: [], meanwhile: { operation: "create", text: seat } },
    { exists: true, before: [seat], meanwhile: { operation: "delete", text: seat } },
  ] as const;
  for (const { exists, before: tuples, meanwhile } of cases) {
    const tenant = await tenantWithSchema(store);
    await write(store, tenant, { tuples });
    // The change waits where it writes the same tuple, after its first look at the precondition.
    const other = await beginWithoutLocks(tenant, [meanwhile, { operation: "create", text: met }]);
    const refused = fails(writeIf(tenant, exists, met), "PRECONDITION_FAILED");
    const [waiting] = await untilWaiting(sql, 1);
    assert.equal(waiting?.lock, "transactionid");
    await other.commit();
    await refused;
  }
  const tenant = await tenantWithSchema(store);
  const since = await write(store, tenant, {});
  const other = await beginWithoutLocks(tenant, [{ operation: "create", text: met }]);
  const change = { ...nothing, tuples: [tuple(met)] };
  const refused = fails(
    store.data.change(tenant, { ...change, preconditions: [{ kind: "unchanged", since }] }),
    "PRECONDITION_FAILED",
  );
  await untilWaiting(sql, 1);
  await other.commit();
  await refused;
});

test("instances that pass a tuple on lose none and make none, and the log replays", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: ["doc:1#viewer@user:n0"] });
  const others = [await openStore(open.url), await openStore(open.url)];
  try {
    /** Puts the next number in the place of the one that is read. Returns whether that was done. */
    const pass = async (instance: Store): Promise<boolean> => {
      const [text = ""] = await stateAt(instance, tenant, undefined);
      const number = Number(/\d+$/.exec(text)?.[0]);
      try {
        await instance.data.change(tenant, {
          ...nothing,
          preconditions: [{ kind: "tuple", tuple: tuple(text), exists: true }],
          tupleFilters: [
            {
              entity: { type: "doc", ids: ["1"] },
              relation: "viewer",
              subject: { type: "user", ids: [`n${number}`], relation: "" },
            },
          ],
          tuples: [tuple(`doc:1#viewer@user:n${number + 1}`)],
        });
        return true;
      } catch (error) {
        assert.ok(
          error instanceof PembaError && error.code === "PRECONDITION_FAILED",
          String(error),
        );
        return false;
      }
    };
    const rounds = [store, ...others].flatMap((instance) =>
      [1, 2].map(async () => {
        let passed = 0;
        for (let round = 0; round < 20; round++) if (await pass(instance)) passed++;
        return passed;
      }),
    );
    const passed = (await Promise.all(rounds)).reduce((sum, one) => sum + one, 0);
    assert.ok(passed >= 20, `${passed}`);
    assert.deepEqual(await storedIn(tenant), [`doc:1#viewer@user:n${passed}`]);
    const log = await changesOf(sql, tenant);
    assert.equal(log.length, 1 + 2 * passed);
    assert.deepEqual(replay(log), await storedState(sql, tenant));
  } finally {
    for (const other of others) await other.close();
  }
});
