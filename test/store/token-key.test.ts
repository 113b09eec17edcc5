import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { allowed, fails, openStore, tenantWithSchema, write } from "./engines.ts";

const content = Buffer.from("content");

async function databaseOf(t: TestContext): Promise<string> {
  const { url, drop } = await createMigratedDatabase();
  t.after(drop);
  return url;
}

async function opened(t: TestContext, url: string, tokenKey: string | undefined): Promise<Store> {
  const store = await openStore(url, { tokenKey });
  t.after(async () => await store.close());
  return store;
}

test("instances without a key have that of their database, and other databases have another", async (t) => {
  const url = await databaseOf(t);
  const [one, two] = [await opened(t, url, undefined), await opened(t, url, undefined)];
  const tenant = await tenantWithSchema(one);
  const at = await write(one, tenant, { tuples: ["doc:1#owner@user:ada"] });
  assert.equal(
    await allowed(two, tenant, { id: "1", permission: "view", subject: "ada", at }),
    true,
  );
  assert.deepEqual(one.pageMac(content), two.pageMac(content));
  const elsewhere = await opened(t, await databaseOf(t), undefined);
  assert.notDeepEqual(elsewhere.pageMac(content), one.pageMac(content));
});

test("a key that is given takes the place of it, and tokens of another key are malformed", async (t) => {
  const url = await databaseOf(t);
  const keys = ["first-key-of-two-keys", "second-key-of-two-keys", undefined];
  const [first, second, own] = await Promise.all(keys.map((key) => opened(t, url, key)));
  assert.ok(first && second && own);
  const again = await opened(t, url, keys[0]);
  const tenant = await tenantWithSchema(first);
  const at = await write(first, tenant, { tuples: ["doc:1#owner@user:ada"] });
  const asked = { id: "1", permission: "view", subject: "ada", at };
  assert.equal(await allowed(again, tenant, asked), true);
  assert.deepEqual(again.pageMac(content), first.pageMac(content));
  for (const other of [second, own]) {
    await fails(allowed(other, tenant, asked), "INVALID_SNAP_TOKEN", "is malformed");
    assert.notDeepEqual(other.pageMac(content), first.pageMac(content));
  }
});

test("the memory engine draws a key when it has none", async (t) => {
  const open = (tokenKey: string | undefined): Store => {
    const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000, tokenKey });
    t.after(async () => await store.close());
    return store;
  };
  assert.notDeepEqual(open(undefined).pageMac(content), open(undefined).pageMac(content));
  assert.deepEqual(open("key").pageMac(content), open("key").pageMac(content));
});
