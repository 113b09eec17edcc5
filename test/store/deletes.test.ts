import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { AttributeValue, SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import {
  allowed,
  attribute,
  engines,
  fails,
  newTenant,
  type OpenStore,
  tenantId,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { type AttributeParts, remove, type TupleParts } from "./filters.ts";

const yes: AttributeValue = { type: "boolean", data: true };
const view = { id: "1", permission: "view", subject: "a" };

for (const engine of engines) {
  describe(`deletes on ${engine.name}`, () => {
    let open: OpenStore;
    let store: Store;

    before(async () => {
      open = await engine.open();
      store = open.store;
    });

    after(async () => {
      await open.close();
    });

    /** Whose of the users `a` to `d` document 1 is, in the state of the token or now. */
    async function owners(tenant: TenantId, at?: SnapToken): Promise<string> {
      let names = "";
      for (const subject of ["a", "b", "c", "d"]) {
        const asked = { id: "1", permission: "owner", subject, at };
        if (await allowed(store, tenant, asked)) names += subject;
      }
      return names;
    }

    test("what is deleted is gone at once, and still there at the tokens before", async () => {
      const tenant = await tenantWithSchema(store);
      const written = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      const deleted = await remove(store, tenant, {
        tuples: { type: "doc", ids: ["1"], relation: "owner", subjectIds: ["a"] },
      });
      assert.equal(await owners(tenant), "");
      assert.equal(await owners(tenant, deleted), "");
      assert.equal(await owners(tenant, written), "a");
    });

    test("a tuple that is deleted and created again shows at the right tokens", async () => {
      const tenant = await tenantWithSchema(store);
      const tuples = ["doc:1#owner@user:a"];
      const filter = { tuples: { ids: ["1"] } };
      const tokens = [
        await write(store, tenant, {}),
        await write(store, tenant, { tuples }),
        await remove(store, tenant, filter),
        await write(store, tenant, { tuples }),
        await remove(store, tenant, filter),
        await write(store, tenant, { tuples }),
      ];
      const seen: string[] = [];
      for (const at of [...tokens, undefined]) seen.push(await owners(tenant, at));
      assert.deepEqual(seen, ["", "a", "", "a", "", "a", "a"]);
    });

    test("an attribute that is deleted has its values at the tokens before", async () => {
      const tenant = await tenantWithSchema(store);
      const attributes = [attribute("public", yes)];
      const filter = { attributes: { type: "doc", ids: ["1"], names: ["public"] } };
      const tokens = [
        await write(store, tenant, { attributes }),
        await remove(store, tenant, filter),
        await write(store, tenant, { attributes }),
        await remove(store, tenant, filter),
      ];
      const seen: boolean[] = [];
      for (const at of [...tokens, undefined]) {
        seen.push(await allowed(store, tenant, { ...view, at }));
      }
      assert.deepEqual(seen, [true, false, true, false, false]);
    });

    test("a filter deletes what fits all its parts, a list any of its ids", async () => {
      const all = [
        "doc:1#owner@user:a",
        "doc:1#owner@user:b",
        "doc:1#viewer@user:a",
        "doc:1#viewer@group:a#member",
        "doc:2#owner@user:a",
        "group:1#member@user:a",
        "group:a#member@group:1#member",
      ];
      const cases: readonly (readonly [TupleParts, readonly number[]])[] = [
        [{ ids: ["1"] }, [0, 1, 2, 3, 5]],
        [{ type: "doc", ids: ["1"] }, [0, 1, 2, 3]],
        [{ type: "doc", ids: ["1", "2", "2"] }, [0, 1, 2, 3, 4]],
        [{ type: "doc" }, [0, 1, 2, 3, 4]],
        [{ relation: "owner" }, [0, 1, 4]],
        [{ ids: ["1"], relation: "owner" }, [0, 1]],
        [{ subjectIds: ["a"] }, [0, 2, 3, 4, 5]],
        [{ subjectType: "user", subjectIds: ["a", "b"] }, [0, 1, 2, 4, 5]],
        [{ subjectType: "group" }, [3, 6]],
        [{ subjectRelation: "member" }, [3, 6]],
        [{ subjectIds: ["1"], subjectRelation: "member" }, [6]],
        [{ ids: ["1", "2"], relation: "owner", subjectIds: ["a"] }, [0, 4]],
        [{ type: "group", ids: ["1"], relation: "owner", subjectIds: ["a"] }, []],
        [{ ids: ["outsider"] }, []],
        [{ type: "unheard_of" }, []],
      ];
      for (const [filter, gone] of cases) {
        const tenant = await tenantWithSchema(store);
        const written = await write(store, tenant, { tuples: all });
        await remove(store, tenant, { tuples: filter });
        const left = await remaining(store, tenant, undefined, all);
        const expected = all.filter((_, index) => !gone.includes(index));
        assert.deepEqual(left, expected, JSON.stringify(filter));
        assert.deepEqual(await remaining(store, tenant, written, all), all);
      }
    });

    test("an attribute filter deletes what fits all its parts", async () => {
      const cases: readonly (readonly [AttributeParts, string])[] = [
        [{ ids: ["1"] }, "2"],
        [{ type: "doc", ids: ["1", "3"] }, "2"],
        [{ names: ["public"] }, ""],
        [{ names: ["limit", "score"] }, "12"],
        [{ type: "doc" }, ""],
        [{ type: "group" }, "12"],
        [{ ids: ["2"], names: ["public", "limit"] }, "1"],
      ];
      for (const [filter, left] of cases) {
        const tenant = await tenantWithSchema(store);
        await write(store, tenant, {
          attributes: [
            attribute("public", yes),
            attribute("limit", { type: "integer", data: 1 }),
            attribute("public", yes, "2"),
          ],
        });
        await remove(store, tenant, { attributes: filter });
        let seen = "";
        for (const id of ["1", "2"]) if (await allowed(store, tenant, { ...view, id })) seen += id;
        assert.equal(seen, left, JSON.stringify(filter));
      }
    });

    test("a side without a filter is left alone, both go in one transaction", async () => {
      const tenant = await tenantWithSchema(store);
      const data = { tuples: ["doc:1#owner@user:a"], attributes: [attribute("public", yes)] };
      const written = await write(store, tenant, data);
      await remove(store, tenant, { tuples: {} });
      assert.equal(await owners(tenant), "");
      assert.equal(await allowed(store, tenant, view), true);
      await write(store, tenant, data);
      await remove(store, tenant, { attributes: {} });
      assert.equal(await owners(tenant), "a");
      const both = await remove(store, tenant, { tuples: { type: "doc" }, attributes: {} });
      assert.equal(await allowed(store, tenant, view), false);
      assert.equal(await allowed(store, tenant, { ...view, at: both }), false);
      assert.equal(await allowed(store, tenant, { ...view, at: written }), true);
    });

    test("a delete that matches nothing returns a token of the same state", async () => {
      const tenant = await tenantWithSchema(store);
      await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      const token = await remove(store, tenant, { tuples: { ids: ["none"] } });
      assert.equal(await owners(tenant, token), "a");
    });

    test("a delete touches no other tenant", async () => {
      const [one, other] = [await tenantWithSchema(store), await tenantWithSchema(store)];
      const data = { tuples: ["doc:1#owner@user:a"], attributes: [attribute("public", yes)] };
      await write(store, one, data);
      await write(store, other, data);
      for (const ids of [["1"], []]) {
        await remove(store, one, { tuples: { ids }, attributes: { ids } });
      }
      assert.equal(await owners(other), "a");
      assert.equal(await allowed(store, other, { ...view, subject: "outsider" }), true);
    });

    test("a delete needs no schema, but a tenant", async () => {
      const tenant = await newTenant(store);
      assert.notEqual(await remove(store, tenant, { tuples: {} }), "");
      const gone = tenantId("missing");
      await fails(remove(store, gone, { tuples: {} }), "TENANT_NOT_FOUND", "`missing`");
      await fails(
        remove(store, gone, { tuples: { ids: ["1"], relation: "a", subjectIds: ["1"] } }),
        "TENANT_NOT_FOUND",
      );
    });

    test("deletes at the same time never hide each other's work", async () => {
      const tenant = await tenantWithSchema(store);
      const names = Array.from({ length: 30 }, (_, index) => `u${index}`);
      await write(store, tenant, {
        tuples: names.map((name) => `doc:1#owner@user:${name}`),
      });
      await Promise.all(
        names.map(async (name, index) => {
          const parts = index % 3 === 0 ? {} : { ids: ["1"], relation: "owner" };
          const token = await remove(store, tenant, { tuples: { ...parts, subjectIds: [name] } });
          const asked = { id: "1", permission: "owner", subject: name };
          assert.equal(await allowed(store, tenant, { ...asked, at: token }), false);
          assert.equal(await allowed(store, tenant, asked), false);
        }),
      );
    });
  });
}

/** Those of the tuples that stand, asked by relation since each of them is one. */
async function remaining(
  store: Store,
  tenant: TenantId,
  at: SnapToken | undefined,
  texts: readonly string[],
): Promise<readonly string[]> {
  const left: string[] = [];
  for (const text of texts) {
    const [, type = "", id = "", permission = "", subjectType = "", subjectId = "", relation = ""] =
      /^(\w+):(\w+)#(\w+)@(\w+):(\w+)(?:#(\w+))?$/.exec(text) ?? assert.fail(text);
    // Usersets do not reach into each other here: every subject is asked as it stands in its tuple.
    const [answer] = await store.permissions.check(tenant, {
      schemaVersion: undefined,
      snapToken: at,
      depth: 1,
      context: { tuples: [], attributes: [], data: {} },
      items: [
        {
          entity: { type, id },
          permission,
          subject: { type: subjectType, id: subjectId, relation },
          arguments: [],
        },
      ],
      path: (_item, field) => field,
    });
    if (answer?.allowed === true) left.push(text);
  }
  return left;
}
