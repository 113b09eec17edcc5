import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import {
  allowed,
  engines,
  fails,
  newTenant,
  type OpenStore,
  schemaText,
  tenantId,
  tenantWithSchema,
  write,
} from "./engines.ts";

for (const engine of engines) {
  describe(engine.name, () => {
    let open: OpenStore;
    let store: Store;

    before(async () => {
      open = await engine.open();
      store = open.store;
    });

    after(async () => {
      await open.close();
    });

    async function allIds(limit: number): Promise<readonly (readonly TenantId[])[]> {
      const pages: (readonly TenantId[])[] = [];
      let next: TenantId | undefined;
      do {
        const page = await store.tenants.list({ after: next, limit });
        pages.push(page.items.map(({ id }) => id));
        next = page.next;
      } while (next !== undefined);
      return pages;
    }

    test("a created tenant has the time of its creation", async () => {
      const earliest = Date.now() - 60_000;
      const created = await store.tenants.create({ id: tenantId("timed"), name: "Näme" });
      assert.equal(created.name, "Näme");
      assert.ok(created.createdAt.getTime() > earliest);
      const { items } = await store.tenants.list({ after: tenantId("time"), limit: 1 });
      assert.deepEqual(items, [created]);
    });

    test("the example tenant is there from the start", async () => {
      const { items } = await store.tenants.list({ after: undefined, limit: 1_000 });
      assert.equal(items.find(({ id }) => id === "t1")?.name, "example tenant");
    });

    test("an id that is taken is refused, and the tenant stays as it was", async () => {
      const id = tenantId("taken");
      const first = await store.tenants.create({ id, name: "first" });
      await fails(store.tenants.create({ id, name: "second" }), "UNIQUE_CONSTRAINT", "`taken`");
      const { items } = await store.tenants.list({ after: tenantId("take"), limit: 1 });
      assert.deepEqual(items, [first]);
    });

    test("of two who create an id at the same time one succeeds", async () => {
      const results = await Promise.allSettled(
        [1, 2, 3].map((n) => store.tenants.create({ id: tenantId("raced"), name: String(n) })),
      );
      assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
    });

    test("pages hold all tenants once, in byte order, and end without an empty one", async () => {
      for (const id of ["a", "B", "a-b", "a,b", "Z"]) {
        await store.tenants.create({ id: tenantId(`page-${id}`), name: "" });
      }
      const [everything = []] = await allIds(1_000);
      assert.deepEqual(everything, everything.toSorted());
      const pages = await allIds(2);
      assert.deepEqual(pages.flat(), everything);
      assert.ok(pages.every((page) => page.length > 0));
      assert.equal((await allIds(everything.length)).length, 1);
    });

    test("deleting an unknown tenant fails", async () => {
      await fails(store.tenants.delete(tenantId("missing")), "TENANT_NOT_FOUND", "`missing`");
    });

    test("nothing works in a deleted tenant", async () => {
      const id = await tenantWithSchema(store);
      await write(store, id, { tuples: ["doc:1#owner@user:a"] });
      await store.tenants.delete(id);
      await fails(store.tenants.delete(id), "TENANT_NOT_FOUND");
      await fails(write(store, id, { tuples: ["doc:1#owner@user:b"] }), "TENANT_NOT_FOUND");
      await fails(write(store, id, {}), "TENANT_NOT_FOUND");
      await fails(store.schemas.write(id, { text: schemaText }), "TENANT_NOT_FOUND");
      await fails(store.schemas.read(id, undefined), "TENANT_NOT_FOUND");
      await fails(store.schemas.list(id, { before: undefined, limit: 1 }), "TENANT_NOT_FOUND");
      await fails(
        allowed(store, id, { id: "1", permission: "view", subject: "a" }),
        "TENANT_NOT_FOUND",
      );
    });

    test("a tenant created anew has nothing of its predecessor, not even through tokens", async () => {
      const id = await tenantWithSchema(store);
      const version = (await store.schemas.read(id, undefined)).version;
      const token = await write(store, id, { tuples: ["doc:1#owner@user:a"] });
      const asked = { id: "1", permission: "view", subject: "a" };
      assert.equal(await allowed(store, id, asked), true);

      await store.tenants.delete(id);
      await store.tenants.create({ id, name: "" });
      await fails(store.schemas.read(id, undefined), "SCHEMA_NOT_FOUND");
      await fails(store.schemas.read(id, version), "SCHEMA_NOT_FOUND");
      await fails(write(store, id, { schemaVersion: version }), "SCHEMA_NOT_FOUND");
      await fails(write(store, id, {}), "SCHEMA_NOT_FOUND");

      await store.schemas.write(id, { text: schemaText });
      assert.equal(await allowed(store, id, asked), false);
      await fails(allowed(store, id, { ...asked, at: token }), "INVALID_SNAP_TOKEN", "before this");
    });

    test("tenants see nothing of each other", async () => {
      const [one, other] = [await tenantWithSchema(store), await tenantWithSchema(store)];
      await write(store, one, { tuples: ["doc:1#owner@user:a"] });
      const asked = { id: "1", permission: "view", subject: "a" };
      assert.equal(await allowed(store, one, asked), true);
      assert.equal(await allowed(store, other, asked), false);
      const { version } = await store.schemas.read(one, undefined);
      await fails(store.schemas.read(other, version), "SCHEMA_NOT_FOUND");
      await fails(write(store, other, { schemaVersion: version }), "SCHEMA_NOT_FOUND");
    });

    test("a tenant without a schema says so", async () => {
      const id = await newTenant(store);
      await fails(store.schemas.read(id, undefined), "SCHEMA_NOT_FOUND", `\`${id}\``);
      await fails(write(store, id, {}), "SCHEMA_NOT_FOUND");
      assert.deepEqual(await store.schemas.list(id, { before: undefined, limit: 5 }), {
        items: [],
        next: undefined,
        head: undefined,
      });
    });
  });
}
