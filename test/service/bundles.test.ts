/** Bundles with very many variables: other requests go on while they are written and run. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { writeBundles } from "../../src/service/bundles.ts";
import { createHealth } from "../../src/service/health.ts";
import { runBundle } from "../../src/service/run-bundle.ts";
import type { Service } from "../../src/service/service.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";

const tenantId = "t1" as TenantId;
const variables = 50_000;

/** How many rounds of the event loop there are until the work is over. */
async function roundsOf(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  let isOver = false;
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  await work();
  isOver = true;
  return rounds;
}

async function emptyService(): Promise<Service> {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1024 });
  await store.schemas.write(tenantId, { text: "entity doc { attribute title string }" });
  return { store, health: createHealth(store), maxDataPerWrite: 1_000, bulkLimit: 1 };
}

test("a template with very many variables is written and rendered in steps", async (t) => {
  const service = await emptyService();
  const template = `doc:1$title|string:${"{{.a}}".repeat(variables)}`;
  const bundles = [{ name: "b", arguments: ["a"], operations: [{ attributesWrite: [template] }] }];
  // Each look at the clock finds that a time slice is over.
  let now = 0;
  t.mock.method(performance, "now", () => (now += 1_000));
  const written = await roundsOf(async () => await writeBundles(service, { tenantId, bundles }));
  assert.ok(written > 100, `${written} rounds`);
  const run = await roundsOf(
    async () => await runBundle(service, { tenantId, name: "b", arguments: { a: "xy" } }),
  );
  // Once to count, once to render.
  assert.ok(run > 200, `${run} rounds`);
});

test("many templates are written and rendered in steps", async (t) => {
  const service = await emptyService();
  const template = (_: unknown, id: number): string => `doc:${id}$title|string:{{.a}}`;
  const attributesWrite = Array.from({ length: 1_000 }, template);
  const bundles = [{ name: "b", arguments: ["a"], operations: [{ attributesWrite }] }];
  let now = 0;
  t.mock.method(performance, "now", () => (now += 1_000));
  const written = await roundsOf(async () => await writeBundles(service, { tenantId, bundles }));
  assert.ok(written > 5, `${written} rounds`);
  const run = await roundsOf(
    async () => await runBundle(service, { tenantId, name: "b", arguments: { a: "x" } }),
  );
  assert.ok(run > 500, `${run} rounds`);
});
