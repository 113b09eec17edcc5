import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { DataChange, Precondition } from "../../src/store/data-change.ts";
import type { TupleFilter } from "../../src/store/filter.ts";
import type { Store } from "../../src/store/store.ts";
import { follow, stateAt, textOf } from "./change-streams.ts";
import {
  attribute,
  engines,
  fails,
  newTenant,
  type OpenStore,
  schemaText,
  tenantWithSchema,
  tuple,
  write,
} from "./engines.ts";
import { until } from "./open-write.ts";

const watch = { readAheadMax: 5 };

const nothing: DataChange = {
  schemaVersion: undefined,
  preconditions: [],
  tupleFilters: [],
  attributeFilters: [],
  tuples: [],
  attributes: [],
};

function about(text: string, exists: boolean): Precondition {
  return { kind: "tuple", tuple: tuple(text), exists };
}

function unchanged(since: SnapToken): Precondition {
  return { kind: "unchanged", since };
}

function ofDoc(id: string, relation = ""): TupleFilter {
  return {
    entity: { type: "doc", ids: [id] },
    relation,
    subject: { type: "", ids: [], relation: "" },
  };
}

async function change(
  store: Store,
  tenant: TenantId,
  changed: Partial<DataChange>,
): Promise<SnapToken> {
  return await store.data.change(tenant, { ...nothing, ...changed });
}

/** The fields that the error for failed preconditions names. */
async function failedFields(work: Promise<unknown>): Promise<readonly (string | undefined)[]> {
  const error = await fails(work, "PRECONDITION_FAILED");
  return error.details.map(({ field }) => field);
}

for (const engine of engines) {
  describe(`a change of data on ${engine.name}`, () => {
    let open: OpenStore;
    let store: Store;

    before(async () => {
      open = await engine.open({ watch });
      store = open.store;
    });

    after(async () => {
      await open.close();
    });

    const stored = async (tenant: TenantId, at?: SnapToken): Promise<readonly string[]> =>
      [...(await stateAt(store, tenant, at))].toSorted();

    test("deletes come before writes, and a stream tells all of it at once", async () => {
      const tenant = await tenantWithSchema(store);
      const old = await write(store, tenant, {
        tuples: ["doc:1#owner@user:a", "doc:1#viewer@user:b", "doc:2#owner@user:a"],
        attributes: [attribute("limit", { type: "integer", data: 1 })],
      });
      const follower = await follow(store, tenant, old);
      const token = await change(store, tenant, {
        tupleFilters: [ofDoc("1"), ofDoc("1", "owner")],
        attributeFilters: [{ entity: { type: "doc", ids: ["1"] }, attributes: [] }],
        tuples: [tuple("doc:1#owner@user:a"), tuple("doc:1#owner@user:c")],
        attributes: [attribute("limit", { type: "integer", data: 2 })],
      });
      const message = await follower.next();
      await follower.leave();
      const told = textOf(message);
      assert.deepEqual(told.slice(0, 3).toSorted(), [
        "-doc:1#owner@user:a",
        "-doc:1#viewer@user:b",
        "-doc:1$limit=1",
      ]);
      assert.deepEqual(told.slice(3), [
        "+doc:1#owner@user:a",
        "+doc:1#owner@user:c",
        "+doc:1$limit=2",
      ]);
      const left = [
        "doc:1#owner@user:a",
        "doc:1#owner@user:c",
        "doc:1$limit=2",
        "doc:2#owner@user:a",
      ];
      assert.deepEqual(await stored(tenant, token), left);
      assert.deepEqual(await stored(tenant, message.snapToken), left);
      assert.deepEqual(await stored(tenant, old), [
        "doc:1#owner@user:a",
        "doc:1#viewer@user:b",
        "doc:1$limit=1",
        "doc:2#owner@user:a",
      ]);
    });

    test("every precondition that does not hold is named, and nothing is changed", async () => {
      const tenant = await tenantWithSchema(store);
      const old = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      const now = await write(store, tenant, { tuples: ["doc:2#owner@user:a"] });
      const wanted = {
        tupleFilters: [ofDoc("1")],
        tuples: [tuple("doc:3#owner@user:a")],
      };
      const refused = change(store, tenant, {
        ...wanted,
        preconditions: [
          about("doc:1#owner@user:a", true),
          about("doc:1#owner@user:b", true),
          unchanged(old),
          about("doc:1#owner@user:c", false),
          about("doc:2#owner@user:a", false),
        ],
      });
      const error = await fails(
        refused,
        "PRECONDITION_FAILED",
        "preconditions[1].tuple: `doc:1#owner@user:b` does not exist",
      );
      assert.deepEqual(error.details, [
        { field: "preconditions[1].tuple", message: "`doc:1#owner@user:b` does not exist" },
        { field: "preconditions[2].snap_token", message: "something was changed since this state" },
        {
          field: "preconditions[4].tuple",
          message: "`doc:2#owner@user:a` exists, expected that it does not",
        },
      ]);
      assert.deepEqual(await stored(tenant), ["doc:1#owner@user:a", "doc:2#owner@user:a"]);
      await change(store, tenant, {
        ...wanted,
        preconditions: [
          about("doc:1#owner@user:a", true),
          unchanged(now),
          about("doc:3#owner@user:a", false),
        ],
      });
      assert.deepEqual(await stored(tenant), ["doc:2#owner@user:a", "doc:3#owner@user:a"]);
    });

    test("a state is unchanged while other tenants change and writes find nothing to do", async () => {
      const tenant = await tenantWithSchema(store);
      const tuples = ["doc:1#owner@user:a"];
      const seen = await write(store, tenant, { tuples });
      await write(store, await tenantWithSchema(store), { tuples });
      await write(store, tenant, { tuples });
      await store.schemas.write(tenant, { text: schemaText });
      const preconditions = [unchanged(seen)];
      const next = await change(store, tenant, {
        preconditions,
        tuples: [tuple("doc:1#owner@user:b")],
      });
      const again = change(store, tenant, { preconditions, tupleFilters: [ofDoc("1")] });
      assert.deepEqual(await failedFields(again), ["preconditions[0].snap_token"]);
      await change(store, tenant, {
        preconditions: [unchanged(next)],
        tupleFilters: [ofDoc("1")],
        tuples: [tuple("doc:1#owner@user:b")],
      });
      // The same tuples stand, but they were deleted and written.
      const replaced = change(store, tenant, {
        preconditions: [unchanged(next)],
        tupleFilters: [ofDoc("1")],
      });
      assert.deepEqual(await failedFields(replaced), ["preconditions[0].snap_token"]);
    });

    test("a token that names no readable state is refused by its place", async () => {
      const tenant = await tenantWithSchema(store, "a");
      const foreign = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      const later = await tenantWithSchema(store, "a");
      const refused = (since: SnapToken): Promise<SnapToken> =>
        change(store, later, {
          preconditions: [about("doc:1#owner@user:a", false), unchanged(since)],
          tuples: [tuple("doc:1#owner@user:a")],
        });
      await fails(refused("x" as SnapToken), "INVALID_SNAP_TOKEN", "preconditions[1].snap_token: ");
      const error = await fails(refused(foreign), "INVALID_SNAP_TOKEN", "before this tenant");
      assert.equal(error.details[0]?.field, "preconditions[1].snap_token");
      assert.deepEqual(await stored(later), []);
    });

    test("a token from before the kept history is refused by its place", async (t) => {
      const collecting = await engine.open({
        garbageCollection: { intervalMs: 10, windowMs: 1, timeoutMs: 3_600_000 },
      });
      t.after(collecting.close);
      const tenant = await tenantWithSchema(collecting.store);
      const old = await write(collecting.store, tenant, { tuples: ["doc:1#owner@user:a"] });
      await write(collecting.store, tenant, { tuples: ["doc:2#owner@user:a"] });
      const refusal = await until(async () => {
        const work = change(collecting.store, tenant, {
          preconditions: [unchanged(old)],
          tupleFilters: [ofDoc("1")],
        });
        const error: unknown = await work.catch((thrown: unknown) => thrown);
        assert.ok(error instanceof PembaError, String(error));
        return error.code === "PRECONDITION_FAILED" ? undefined : error;
      });
      assert.equal(refusal.code, "SNAP_TOKEN_EXPIRED");
      assert.equal(refusal.details[0]?.field, "preconditions[0].snap_token");
    });

    test("what is written and what preconditions name must fit the schema", async () => {
      const tenant = await tenantWithSchema(store);
      const owner = tuple("doc:1#owner@user:a");
      const wrong = tuple("doc:1#member@user:a");
      await fails(
        change(store, tenant, { tuples: [owner, wrong] }),
        "RELATION_DEFINITION_NOT_FOUND",
        "write.tuples[1].relation: ",
      );
      await fails(
        change(store, tenant, { attributes: [attribute("limit", { type: "string", data: "" })] }),
        "ATTRIBUTE_TYPE_MISMATCH",
        "write.attributes[0].value: ",
      );
      const preconditions = [
        about("doc:2#owner@user:a", false),
        { kind: "tuple", tuple: wrong, exists: false },
      ] as const;
      await fails(
        change(store, tenant, { preconditions, tuples: [owner] }),
        "RELATION_DEFINITION_NOT_FOUND",
        "preconditions[1].tuple.relation: ",
      );
      assert.deepEqual(await stored(tenant), []);
    });

    test("a change that names an old version is held against that one", async () => {
      const tenant = await newTenant(store);
      const version = await store.schemas.write(tenant, { text: schemaText });
      await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      await store.schemas.write(tenant, { text: "entity user {}" });
      const moved = {
        preconditions: [about("doc:1#owner@user:a", true)],
        tupleFilters: [ofDoc("1")],
        tuples: [tuple("doc:2#owner@user:a")],
      };
      await fails(change(store, tenant, moved), "ENTITY_TYPE_NOT_FOUND");
      assert.ok(version !== undefined);
      await change(store, tenant, { ...moved, schemaVersion: version });
      assert.deepEqual(await stored(tenant), ["doc:2#owner@user:a"]);
      const unknown = { schemaVersion: "0".repeat(20) as typeof version };
      const deleting = { tupleFilters: [ofDoc("2")] };
      await fails(change(store, tenant, { ...deleting, ...unknown }), "SCHEMA_NOT_FOUND");
      await change(store, tenant, deleting);
      assert.deepEqual(await stored(tenant), []);
    });

    test("a delete needs no schema, and no tenant is made by it", async () => {
      const tenant = await newTenant(store);
      const token = await change(store, tenant, { tupleFilters: [ofDoc("1")] });
      assert.deepEqual(await stored(tenant, token), []);
      await fails(
        change(store, tenant, { tuples: [tuple("doc:1#owner@user:a")] }),
        "SCHEMA_NOT_FOUND",
      );
      const missing = "t-missing" as TenantId;
      await fails(change(store, missing, { tupleFilters: [ofDoc("1")] }), "TENANT_NOT_FOUND");
    });

    test("of changes at the same time under one precondition exactly one is made", async () => {
      const free = "doc:1#viewer@user:free";
      const cases: readonly {
        readonly what: string;
        readonly of: (user: string, seen: SnapToken) => Partial<DataChange>;
      }[] = [
        {
          what: "a tuple that is deleted",
          of: (user) => ({
            preconditions: [about(free, true)],
            tupleFilters: [ofDoc("1", "viewer")],
            tuples: [tuple(`doc:1#owner@user:${user}`)],
          }),
        },
        {
          what: "a tuple that is written",
          of: (user) => ({
            preconditions: [about("doc:2#owner@user:one", false)],
            tuples: [tuple("doc:2#owner@user:one"), tuple(`doc:1#owner@user:${user}`)],
          }),
        },
        {
          what: "the state",
          of: (user, seen) => ({
            preconditions: [unchanged(seen)],
            tuples: [tuple(`doc:1#owner@user:${user}`)],
          }),
        },
      ];
      for (const { what, of } of cases) {
        const tenant = await tenantWithSchema(store);
        const seen = await write(store, tenant, { tuples: [free] });
        const users = ["a", "b", "c", "d", "e", "f", "g", "h"];
        const made = await Promise.allSettled(
          users.map((user) => change(store, tenant, of(user, seen))),
        );
        const winners = users.filter((_, index) => made[index]?.status === "fulfilled");
        assert.equal(winners.length, 1, what);
        for (const result of made) {
          if (result.status === "rejected")
            await fails(Promise.reject(result.reason), "PRECONDITION_FAILED");
        }
        const owners = (await stored(tenant)).filter((text) => text.startsWith("doc:1#owner"));
        assert.deepEqual(owners, [`doc:1#owner@user:${winners[0]}`], what);
      }
    });
  });
}
