import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { Steps } from "../../src/base/steps.ts";
import { emptyContext, type TenantId } from "../../src/base/tuple.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { MemoryTenants } from "../../src/store/memory/tenants.ts";
import { tenantId, tuple } from "./engines.ts";

/** Tells how many elements a list had at most that was sorted at once. */
function watchSorting(t: TestContext): () => number {
  let most = 0;
  const prototype: unknown[] = Array.prototype;
  const { sort } = prototype;
  const put = (value: typeof sort): void => {
    Object.defineProperty(prototype, "sort", { value, configurable: true, writable: true });
  };
  t.after(() => put(sort));
  put(function (this: unknown[], ...by) {
    most = Math.max(most, this.length);
    return Reflect.apply(sort, this, by);
  });
  return () => most;
}

test("a lookup does not sort very many candidates at once", async (t) => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1024 });
  const tenant = "t1" as TenantId;
  await store.schemas.write(tenant, {
    text: "entity user {} entity doc { relation owner @user  permission view = owner }",
  });
  const count = 5_000;
  const tuples = Array.from({ length: count }, (_, index) =>
    tuple(`doc:${10_000 + ((index * 7_919) % count)}#owner@user:ada`),
  );
  await store.data.write(tenant, { schemaVersion: undefined, tuples, attributes: [] });
  const question = {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 100,
    context: emptyContext,
    limit: 2,
    entityType: "doc",
    permission: "view",
    subject: { type: "user", id: "ada", relation: "" },
    scope: new Map(),
  };
  const mostAtOnce = watchSorting(t);
  const first = await store.lookups.entities(tenant, { ...question, after: undefined });
  const last = await store.lookups.entities(tenant, { ...question, after: "14997" });
  assert.ok(mostAtOnce() <= 1_000, `${mostAtOnce()} are sorted at once`);
  assert.deepEqual([first.items, first.next], [["10000", "10001"], "10001"]);
  assert.deepEqual([last.items, last.next], [["14998", "14999"], undefined]);
});

/** Runs the steps to the end, and tells how many there were. */
function counted<T>(steps: Steps<T>): { readonly result: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses += 1) {
    const { done, value } = steps.next();
    if (done === true) return { result: value, pauses };
  }
}

test("very many tenants are sorted in steps, and by the first page alone", () => {
  const tenants = new MemoryTenants();
  const count = 20_000;
  for (let nth = 0; nth < count; nth++) {
    tenants.create({ id: tenantId(`t${100_000 + ((nth * 7_919) % count)}`), name: "" });
  }
  const page = (after: string | undefined) => {
    const place = after === undefined ? undefined : tenantId(after);
    const { result, pauses } = counted(tenants.list({ after: place, limit: 2, among: undefined }));
    return { ids: result.map(({ id }) => id), pauses };
  };
  const first = page(undefined);
  assert.deepEqual(first.ids, ["t100000", "t100001"]);
  assert.ok(first.pauses > 100, `${first.pauses} pauses`);
  assert.deepEqual(page("t100001"), { ids: ["t100002", "t100003"], pauses: 0 });
  tenants.delete(tenantId("t100002"));
  tenants.create({ id: tenantId("t100001-new"), name: "" });
  assert.deepEqual(page("t100001").ids, ["t100001-new", "t100003"]);
  assert.deepEqual(page("t119998").ids, ["t119999"]);
});

test("tenants are listed among some ids", () => {
  const tenants = new MemoryTenants();
  for (const id of ["d", "b", "a", "c"]) tenants.create({ id: tenantId(id), name: "" });
  const among = new Set(["d", "x", "a", "b"]);
  const list = (after: TenantId | undefined, limit: number) =>
    counted(tenants.list({ after, limit, among })).result.map(({ id }) => id);
  assert.deepEqual(list(undefined, 2), ["a", "b"]);
  assert.deepEqual(list(tenantId("b"), 2), ["d"]);
});
