import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { Attribute, SnapToken, TenantId, Tuple } from "../../src/base/tuple.ts";
import type { DataPage, Store } from "../../src/store/store.ts";
import {
  attribute,
  engines,
  fails,
  newTenant,
  type OpenStore,
  tenantId,
  tenantWithSchema,
  tuple,
  write,
} from "./engines.ts";
import {
  type AttributeParts,
  attributeFilter,
  remove,
  tupleFilter,
  type TupleParts,
} from "./filters.ts";

interface Read {
  readonly at?: SnapToken | undefined;
  readonly size?: number;
}

for (const engine of engines) {
  describe(`reads on ${engine.name}`, () => {
    let open: OpenStore;
    let store: Store;

    before(async () => {
      open = await engine.open();
      store = open.store;
    });

    after(async () => {
      await open.close();
    });

    async function tuplesOf(
      tenant: TenantId,
      parts: TupleParts,
      { at, size = 100 }: Read = {},
    ): Promise<readonly string[]> {
      const items = await allPages(at, async (snapToken, from) =>
        store.data.readTuples(tenant, {
          filter: tupleFilter(parts),
          snapToken,
          after: from,
          limit: size,
        }),
      );
      return items.map(textOf);
    }

    async function attributesOf(
      tenant: TenantId,
      parts: AttributeParts,
      { at, size = 100 }: Read = {},
    ): Promise<readonly Attribute[]> {
      return await allPages(at, async (snapToken, from) =>
        store.data.readAttributes(tenant, {
          filter: attributeFilter(parts),
          snapToken,
          after: from,
          limit: size,
        }),
      );
    }

    function tagged(id: string, bytes: number): Attribute {
      const text = "\u00e9".repeat(bytes / 2);
      return attribute("tags", { type: "string[]", data: [text] }, id);
    }

    test("a value that is larger than a page stands alone on one", async () => {
      const tenant = await tenantWithSchema(store);
      const sizes = { a: 900_000, b: 3_900_000, c: 3_900_000, d: 10, e: 10 };
      for (const [id, bytes] of Object.entries(sizes)) {
        await write(store, tenant, { attributes: [tagged(id, bytes)] });
      }
      const pages: (readonly string[])[] = [];
      let after: readonly string[] | undefined;
      do {
        const read = { filter: attributeFilter({}), snapToken: undefined, after, limit: 100 };
        const page = await store.data.readAttributes(tenant, read);
        pages.push(page.items.map(({ entity }) => entity.id));
        after = page.next;
      } while (after !== undefined);
      assert.deepEqual(pages, [["a"], ["b"], ["c"], ["d", "e"]]);
    });

    test("a page of large values ends when they are enough, and the next one goes on behind it", async () => {
      const tenant = await tenantWithSchema(store);
      const ids = ["a", "b", "c", "d", "e", "f", "g"];
      for (const id of ids) await write(store, tenant, { attributes: [tagged(id, 400_000)] });
      const at = await write(store, tenant, {});
      for (const [parts, snapToken] of [
        [{}, undefined],
        [{ ids }, undefined],
        [{ ids }, at],
      ] as const) {
        const sizes: number[] = [];
        const seen: string[] = [];
        let after: readonly string[] | undefined;
        do {
          const read = { filter: attributeFilter(parts), snapToken, after, limit: 100 };
          const page = await store.data.readAttributes(tenant, read);
          sizes.push(page.items.length);
          seen.push(...page.items.map(({ entity }) => entity.id));
          after = page.next;
        } while (after !== undefined);
        assert.deepEqual(seen, ids);
        assert.deepEqual(sizes, [2, 2, 2, 1]);
      }
    });

    test("a page of tuples with the longest names and ids ends before it is too long for a message", async () => {
      const tenant = await newTenant(store);
      const [type, relation] = ["t".repeat(64), "r".repeat(64)];
      const text = `entity ${type} { relation ${relation} @${type}#${relation} }`;
      await store.schemas.write(tenant, { text });
      const ids = Array.from({ length: 10_000 }, (_, index) => String(index).padStart(128, "0"));
      const group = "g".repeat(128);
      for (let from = 0; from < ids.length; from += 1_000) {
        const tuples = ids
          .slice(from, from + 1_000)
          .map((id) => `${type}:${id}#${relation}@${type}:${group}#${relation}`);
        await write(store, tenant, { tuples });
      }
      const seen: string[] = [];
      const sizes: number[] = [];
      let after: readonly string[] | undefined;
      do {
        const read = { filter: tupleFilter({}), snapToken: undefined, after, limit: 10_000 };
        const page = await store.data.readTuples(tenant, read);
        sizes.push(page.items.length);
        seen.push(...page.items.map(({ entity }) => entity.id));
        after = page.next;
      } while (after !== undefined);
      assert.deepEqual(seen, ids);
      const bytesOfEach = 2 * (64 + 128 + 64) + 32;
      const first = Math.floor((3 * 1024 * 1024) / bytesOfEach);
      assert.deepEqual(sizes, [first, ids.length - first]);
    });

    const all = [
      "doc:1#owner@user:a",
      "doc:1#owner@user:b",
      "doc:1#viewer@group:a#member",
      "doc:1#viewer@user:a",
      "doc:2#owner@user:a",
      "group:1#member@user:a",
      "group:2#member@group:1#member",
    ];

    test("a filter gives what fits all its parts, by entity id unless it names only subjects", async () => {
      const tenant = await tenantWithSchema(store);
      await write(store, tenant, { tuples: all });
      const cases: readonly (readonly [TupleParts, readonly number[]])[] = [
        [{}, [5, 0, 1, 2, 3, 6, 4]],
        [{ ids: ["1"] }, [5, 0, 1, 2, 3]],
        [{ ids: ["2", "1", "2"] }, [5, 0, 1, 2, 3, 6, 4]],
        [{ type: "doc", ids: ["1"] }, [0, 1, 2, 3]],
        [{ type: "doc", ids: ["1"], relation: "owner" }, [0, 1]],
        [{ relation: "owner" }, [0, 1, 4]],
        [{ subjectIds: ["a"] }, [2, 0, 4, 3, 5]],
        [{ subjectIds: ["b", "a"], subjectType: "user" }, [0, 4, 3, 5, 1]],
        [{ ids: ["1"], subjectIds: ["a"] }, [5, 0, 2, 3]],
        [{ subjectRelation: "member" }, [2, 6]],
        [{ subjectType: "group", subjectIds: ["1"] }, [6]],
        [{ subjectIds: ["a"], relation: "viewer" }, [2, 3]],
        [{ ids: ["none"] }, []],
        [{ type: "unheard_of" }, []],
      ];
      for (const [parts, expected] of cases) {
        const texts = expected.map((index) => all[index]);
        for (const size of [1, 2, 100]) {
          assert.deepEqual(await tuplesOf(tenant, parts, { size }), texts, JSON.stringify(parts));
        }
      }
    });

    test("attributes come with the values of their types, by entity id and name", async () => {
      const tenant = await tenantWithSchema(store);
      const values = [
        attribute("limit", { type: "integer", data: -2147483648 }),
        attribute("public", { type: "boolean", data: false }),
        attribute("score", { type: "double", data: Number.NEGATIVE_INFINITY }),
        attribute("tags", { type: "string[]", data: ["", 'a"\\,{}', "ü"] }),
        attribute("score", { type: "double", data: 0.1 }, "2"),
      ];
      await write(store, tenant, { attributes: values });
      for (const size of [1, 2, 100]) {
        assert.deepEqual(await attributesOf(tenant, {}, { size }), values);
      }
      assert.deepEqual(await attributesOf(tenant, { ids: ["2"] }), values.slice(4));
      assert.deepEqual(await attributesOf(tenant, { names: ["score", "limit"] }), [
        values[0],
        values[2],
        values[4],
      ]);
      assert.deepEqual(await attributesOf(tenant, { type: "group" }), []);
    });

    test("a token gives exactly its state, without later changes", async () => {
      const tenant = await tenantWithSchema(store);
      const value = (data: number): Attribute => attribute("limit", { type: "integer", data });
      const empty = await write(store, tenant, {});
      const first = await write(store, tenant, { tuples: all, attributes: [value(1)] });
      const second = await remove(store, tenant, { tuples: { ids: ["1"] }, attributes: {} });
      const third = await write(store, tenant, { tuples: all.slice(0, 2), attributes: [value(3)] });
      const counts = [
        [empty, 0, undefined],
        [first, 7, 1],
        [second, 2, undefined],
        [third, 4, 3],
        [undefined, 4, 3],
      ] as const;
      for (const [at, tuples, number] of counts) {
        for (const size of [1, 100]) {
          assert.equal((await tuplesOf(tenant, {}, { at, size })).length, tuples);
          const found = await attributesOf(tenant, {}, { at, size });
          assert.deepEqual(found, number === undefined ? [] : [value(number)]);
        }
      }
      assert.deepEqual(await tuplesOf(tenant, { subjectIds: ["b"] }, { at: first }), [all[1]]);
      assert.deepEqual(await tuplesOf(tenant, { subjectIds: ["b"] }, { at: second }), []);
    });

    test("pages that begin without a token stay in the state of the first", async () => {
      const tenant = await tenantWithSchema(store);
      await write(store, tenant, { tuples: all });
      const read = { filter: tupleFilter({}), limit: 3 };
      const first = await store.data.readTuples(tenant, {
        ...read,
        snapToken: undefined,
        after: undefined,
      });
      await remove(store, tenant, { tuples: { type: "doc" } });
      await write(store, tenant, { tuples: ["doc:1#owner@user:z", "doc:9#owner@user:a"] });
      const next = { ...read, snapToken: first.snapToken };
      const second = await store.data.readTuples(tenant, { ...next, after: first.next });
      const third = await store.data.readTuples(tenant, { ...next, after: second.next });
      const texts = [...first.items, ...second.items, ...third.items].map(textOf);
      assert.deepEqual(texts.toSorted(), all.toSorted());
      assert.equal(third.next, undefined);
    });

    test("there is a next page only when it holds something", async () => {
      const tenant = await tenantWithSchema(store);
      await write(store, tenant, { tuples: all });
      const read = { filter: tupleFilter({}), snapToken: undefined, after: undefined };
      const exact = await store.data.readTuples(tenant, { ...read, limit: all.length });
      assert.equal(exact.items.length, all.length);
      assert.equal(exact.next, undefined);
      const short = await store.data.readTuples(tenant, { ...read, limit: all.length - 1 });
      assert.equal(short.items.length, all.length - 1);
      assert.notEqual(short.next, undefined);
    });

    test("a read sees only its own tenant, and that it is there", async () => {
      const [tenant, other] = [await newTenant(store), await tenantWithSchema(store)];
      await write(store, other, { tuples: all });
      for (const parts of [{}, { ids: ["1"] }, { subjectIds: ["a"] }]) {
        assert.deepEqual(await tuplesOf(tenant, parts), []);
      }
      assert.deepEqual(await attributesOf(tenant, {}), []);
      const gone = tenantId("missing");
      await fails(tuplesOf(gone, {}), "TENANT_NOT_FOUND", "`missing`");
      await fails(attributesOf(gone, { ids: ["1"] }), "TENANT_NOT_FOUND", "`missing`");
    });

    test("a token that is none is refused", async () => {
      const tenant = await tenantWithSchema(store);
      const at = "x" as SnapToken;
      await fails(tuplesOf(tenant, {}, { at }), "INVALID_SNAP_TOKEN", "metadata.snap_token");
      await fails(attributesOf(tenant, {}, { at }), "INVALID_SNAP_TOKEN", "metadata.snap_token");
    });
  });
}

async function allPages<T>(
  at: SnapToken | undefined,
  read: (
    snapToken: SnapToken | undefined,
    after: readonly string[] | undefined,
  ) => Promise<DataPage<T>>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let page = await read(at, undefined);
  items.push(...page.items);
  while (page.next !== undefined) {
    page = await read(page.snapToken, page.next);
    assert.notEqual(page.items.length, 0);
    items.push(...page.items);
  }
  return items;
}

function textOf(item: Tuple): string {
  const { entity, relation, subject } = item;
  const tail = subject.relation === "" ? "" : `#${subject.relation}`;
  const text = `${entity.type}:${entity.id}#${relation}@${subject.type}:${subject.id}${tail}`;
  assert.deepEqual(tuple(text), item);
  return text;
}
