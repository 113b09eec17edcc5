import assert from "node:assert/strict";
import { test } from "node:test";

import type { Attribute, Tuple } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { engines } from "../support/engines.ts";
import { checkThrough, firstTenant, lookUpThrough } from "./ask-store.ts";
import { publicWorkloads } from "./public-workloads.ts";
import type { Workload } from "./workload.ts";

/** More takes long to write. */
const factsMax = 4_000;
const factsPerWrite = 1_000;
const depth = 100;

const workloads = publicWorkloads("small");

for (const engine of engines) {
  for (const workload of workloads.filter(isSmall)) {
    test(`${engine.name}: answers to ${workload.name} follow from how it is made`, async (t) => {
      const app = await engine.start();
      t.after(() => app.close());
      await load(app.store, workload);
      for (const { questions } of workload.classes) {
        for (const question of questions.slice(0, 3)) {
          const allowed = await checkThrough(app.store, question, { depth });
          assert.equal(allowed, question.allowed, JSON.stringify(question));
        }
      }
      for (const { lookups } of workload.lookups ?? []) {
        for (const lookup of lookups.slice(0, 3)) {
          const { items } = await lookUpThrough(app.store, lookup, { limit: lookup.limit, depth });
          assert.deepEqual(items, lookup.found);
        }
      }
    });
  }
}

test("a workload that says how many tuples are published has as many", () => {
  const published = workloads.filter((workload) => workload.published !== undefined);
  assert.notEqual(published.length, 0);
  for (const workload of published) {
    const { tuples } = factsOf(workload);
    const different = new Set(tuples.map((tuple) => JSON.stringify(tuple)));
    assert.equal(different.size, workload.published, workload.name);
  }
});

/** And whose facts can be written: some are as only an earlier schema allowed. */
function isSmall({ name, facts }: Workload): boolean {
  let count = 0;
  for (const _ of facts()) if (++count > factsMax) return false;
  return count > 0 && name !== "usersets";
}

async function load(store: Store, workload: Workload): Promise<void> {
  await store.schemas.write(firstTenant, { text: workload.schema });
  const { tuples, attributes } = factsOf(workload);
  for (let from = 0; from < tuples.length; from += factsPerWrite) {
    const part = tuples.slice(from, from + factsPerWrite);
    await store.data.write(firstTenant, { schemaVersion: undefined, tuples: part, attributes: [] });
  }
  await store.data.write(firstTenant, { schemaVersion: undefined, tuples: [], attributes });
}

function factsOf({ facts }: Workload): {
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
} {
  const tuples: Tuple[] = [];
  const attributes: Attribute[] = [];
  for (const fact of facts()) {
    if (fact.kind === "tuple") tuples.push(fact.tuple);
    else attributes.push(fact.attribute);
  }
  return { tuples, attributes };
}
