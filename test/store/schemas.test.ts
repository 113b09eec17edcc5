import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { SchemaVersion } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { engines, fails, newTenant, type OpenStore, schemaText, write } from "./engines.ts";

const textOf = (entity: string): string => `entity user {}\n// ä\nentity ${entity} {}\n`;
const entities = ["one", "two", "three", "four", "five"];

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

    test("the head is what was written last, and every version stays readable", async () => {
      const tenant = await newTenant(store);
      const versions: SchemaVersion[] = [];
      for (const entity of entities) {
        const version = await store.schemas.write(tenant, { text: textOf(entity) });
        versions.push(version ?? assert.fail("not written"));
      }
      assert.deepEqual(versions, versions.toSorted());
      assert.equal(new Set(versions).size, versions.length);
      for (const [index, version] of versions.entries()) {
        assert.match(version, /^[0-9a-v]{20}$/);
        const stored = await store.schemas.read(tenant, version);
        assert.equal(stored.text, textOf(String(entities[index])));
      }
      const head = await store.schemas.read(tenant, undefined);
      assert.equal(head.version, versions.at(-1));
      assert.equal(head.text, textOf("five"));
    });

    test("versions are listed newest first, in pages", async () => {
      const tenant = await newTenant(store);
      const versions: SchemaVersion[] = [];
      for (const entity of entities) {
        versions.unshift(
          (await store.schemas.write(tenant, { text: textOf(entity) })) ?? assert.fail(),
        );
      }
      const listed: SchemaVersion[] = [];
      const sizes: number[] = [];
      let before: SchemaVersion | undefined;
      do {
        const page = await store.schemas.list(tenant, { before, limit: 2 });
        assert.equal(page.head, versions[0]);
        listed.push(...page.items.map(({ version }) => version));
        sizes.push(page.items.length);
        before = page.next;
      } while (before !== undefined);
      assert.deepEqual(listed, versions);
      assert.deepEqual(sizes, [2, 2, 1]);
      const whole = await store.schemas.list(tenant, { before: undefined, limit: 5 });
      assert.equal(whole.next, undefined);
    });

    test("a write with a base succeeds only on that base", async () => {
      const tenant = await newTenant(store);
      const first = (await store.schemas.write(tenant, { text: textOf("one") })) ?? assert.fail();
      const second = await store.schemas.write(tenant, { text: textOf("two"), base: first });
      assert.ok(second !== undefined);
      assert.equal(
        await store.schemas.write(tenant, { text: textOf("three"), base: first }),
        undefined,
      );
      assert.equal((await store.schemas.read(tenant, undefined)).version, second);
    });

    test("of many who write on the same base one succeeds", async () => {
      const tenant = await newTenant(store);
      const base = (await store.schemas.write(tenant, { text: textOf("one") })) ?? assert.fail();
      const results = await Promise.all(
        entities.map((entity) => store.schemas.write(tenant, { text: textOf(entity), base })),
      );
      assert.equal(results.filter((version) => version !== undefined).length, 1);
    });

    test("versions that are written at the same time are all kept, the greatest is the head", async () => {
      const tenant = await newTenant(store);
      const versions = await Promise.all(
        Array.from({ length: 20 }, () => store.schemas.write(tenant, { text: schemaText })),
      );
      const { items, head } = await store.schemas.list(tenant, { before: undefined, limit: 100 });
      assert.deepEqual(new Set(items.map(({ version }) => version)), new Set(versions));
      const listed = items.map(({ version }) => String(version));
      assert.deepEqual(listed.toReversed(), listed.toSorted());
      assert.equal(head, items[0]?.version);
    });

    test("an unknown version is not found", async () => {
      const tenant = await newTenant(store);
      await store.schemas.write(tenant, { text: schemaText });
      for (const unknown of ["00000000000000000000", "vvvvvvvvvvvvvvvvvvvv", "x", "ä"]) {
        const version = unknown as SchemaVersion;
        await fails(store.schemas.read(tenant, version), "SCHEMA_NOT_FOUND", `\`${unknown}\``);
        await fails(write(store, tenant, { schemaVersion: version }), "SCHEMA_NOT_FOUND");
      }
    });
  });
}
