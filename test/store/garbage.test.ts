import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { emptyContext, type SnapToken, type TenantId } from "../../src/base/tuple.ts";
import type { GarbagePass } from "../../src/store/garbage-collection.ts";
import type { Store } from "../../src/store/store.ts";
import { allowed, attribute, engines, fails, tenantWithSchema, tuple, write } from "./engines.ts";
import { until } from "./open-write.ts";

const view = { id: "1", permission: "view", subject: "a" };
const hour = 3_600_000;

/** Deletes one tuple by all that names it. */
async function remove(store: Store, tenant: TenantId, text: string): Promise<SnapToken> {
  const { entity, relation, subject } = tuple(text);
  return await store.data.delete(tenant, {
    tuples: {
      entity: { type: entity.type, ids: [entity.id] },
      relation,
      subject: { type: subject.type, ids: [subject.id], relation: subject.relation },
    },
    attributes: undefined,
  });
}

const anyTuple = {
  entity: { type: "", ids: [] },
  relation: "",
  subject: { type: "", ids: [], relation: "" },
};

const firstPage = { after: undefined, limit: 1 };

/** A store that collects again and again, and what its passes did. */
async function collecting(
  engine: (typeof engines)[number],
  windowMs: number,
): Promise<{
  readonly store: Store;
  readonly close: () => Promise<void>;
  /** Resolves when a pass has begun and ended from now on. */
  readonly pass: () => Promise<void>;
  readonly removed: () => number;
}> {
  const passes: GarbagePass[] = [];
  const opened = await engine.open({
    garbageCollection: { intervalMs: 10, windowMs, timeoutMs: hour },
    onCollected: (pass) => passes.push(pass),
  });
  return {
    ...opened,
    pass: async () => {
      // One may be under way that began before.
      const wanted = passes.length + 2;
      await until(async () => (passes.length >= wanted ? true : undefined));
      assert.ok(passes.every(({ isComplete }) => isComplete));
    },
    removed: () => passes.reduce((sum, { removed }) => sum + removed, 0),
  };
}

/** The token is refused after some pass. */
async function untilRefused(store: Store, tenant: TenantId, token: SnapToken): Promise<void> {
  await until(async () => {
    try {
      await allowed(store, tenant, { ...view, at: token });
      return undefined;
    } catch (error) {
      assert.ok(error instanceof PembaError && error.code === "SNAP_TOKEN_EXPIRED", String(error));
      return true;
    }
  });
}

for (const engine of engines) {
  describe(`garbage collection on ${engine.name}`, () => {
    test("what a token of the window needs stays", async (t) => {
      const { store, close, pass, removed } = await collecting(engine, hour);
      t.after(close);
      const tenant = await tenantWithSchema(store);
      const limit = attribute("limit", { type: "integer", data: 1 });
      const before = await write(store, tenant, {
        tuples: ["doc:1#owner@user:a"],
        attributes: [limit],
      });
      await remove(store, tenant, "doc:1#owner@user:a");
      await write(store, tenant, {
        attributes: [{ ...limit, value: { type: "integer", data: 2 } }],
      });
      await pass();
      assert.equal(removed(), 0);
      assert.equal(await allowed(store, tenant, view), false);
      assert.equal(await allowed(store, tenant, { ...view, at: before }), true);
      const page = await store.data.readAttributes(tenant, {
        filter: { entity: { type: "doc", ids: [] }, attributes: [] },
        snapToken: before,
        ...firstPage,
      });
      assert.deepEqual(page.items, [limit]);
    });

    test("a token from before the window is refused wherever it is sent", async (t) => {
      const { store, close, pass } = await collecting(engine, 1);
      t.after(close);
      const tenant = await tenantWithSchema(store);
      await write(store, tenant, { tuples: ["doc:1#owner@user:a", "doc:2#owner@user:a"] });
      const paged = await store.data.readTuples(tenant, {
        filter: anyTuple,
        snapToken: undefined,
        ...firstPage,
      });
      await remove(store, tenant, "doc:1#owner@user:a");
      await untilRefused(store, tenant, paged.snapToken);
      await pass();

      const message = "older than the history that is kept";
      const next = { snapToken: paged.snapToken, after: paged.next, limit: 1 };
      const noAttribute = { entity: { type: "doc", ids: [] }, attributes: [] };
      await fails(
        store.data.readTuples(tenant, { ...next, filter: anyTuple }),
        "SNAP_TOKEN_EXPIRED",
        message,
      );
      await fails(
        store.data.readAttributes(tenant, { ...next, after: undefined, filter: noAttribute }),
        "SNAP_TOKEN_EXPIRED",
        message,
      );
      await fails(
        allowed(store, tenant, { ...view, at: paged.snapToken }),
        "SNAP_TOKEN_EXPIRED",
        message,
      );
      // The type has nothing to list.
      const ofUser = store.permissions.subjectPermissions(tenant, {
        schemaVersion: undefined,
        snapToken: paged.snapToken,
        depth: 100,
        context: emptyContext,
        entity: { type: "user", id: "a" },
        subject: { type: "user", id: "a", relation: "" },
        onlyPermission: false,
      });
      await fails(ofUser, "SNAP_TOKEN_EXPIRED", message);
    });

    test("garbage collection keeps all present facts, with any history", async (t) => {
      const { store, close, removed } = await collecting(engine, 1);
      t.after(close);
      const tenant = await tenantWithSchema(store);
      const limit = attribute("limit", { type: "integer", data: 0 });
      let last: SnapToken | undefined;
      for (let turn = 1; turn <= 5; turn++) {
        await write(store, tenant, {
          tuples: ["doc:1#owner@user:a", "doc:2#owner@user:a", "doc:3#viewer@user:a"],
          attributes: [{ ...limit, value: { type: "integer", data: turn } }],
        });
        last = await remove(store, tenant, "doc:3#viewer@user:a");
        if (turn < 5) await remove(store, tenant, "doc:1#owner@user:a");
      }
      assert.ok(last !== undefined);
      await write(store, tenant, { tuples: ["doc:4#owner@user:a"] });
      await untilRefused(store, tenant, last);
      // Nine deletes of tuples and four of values, as both engines count them, and perhaps creates.
      await until(async () => (removed() >= 13 ? true : undefined));

      const { items } = await store.data.readTuples(tenant, {
        filter: anyTuple,
        snapToken: undefined,
        after: undefined,
        limit: 100,
      });
      assert.deepEqual(
        items.map(({ entity }) => entity.id),
        ["1", "2", "4"],
      );
      assert.equal(await allowed(store, tenant, view), true);
      assert.equal(await allowed(store, tenant, { ...view, id: "3" }), false);
      const attributes = await store.data.readAttributes(tenant, {
        filter: { entity: { type: "doc", ids: [] }, attributes: [] },
        snapToken: undefined,
        after: undefined,
        limit: 100,
      });
      assert.deepEqual(attributes.items, [{ ...limit, value: { type: "integer", data: 5 } }]);
    });

    test("tuples that were forgotten can be created and deleted again", async (t) => {
      const { store, close } = await collecting(engine, 1);
      t.after(close);
      const tenant = await tenantWithSchema(store);
      for (let turn = 1; turn <= 3; turn++) {
        const created = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
        assert.equal(await allowed(store, tenant, view), true);
        await remove(store, tenant, "doc:1#owner@user:a");
        assert.equal(await allowed(store, tenant, view), false);
        await untilRefused(store, tenant, created);
      }
    });
  });
}
