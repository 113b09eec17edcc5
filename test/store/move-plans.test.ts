/** Which tenants are moved to give each cluster its share. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { DrainPlan, planBalance } from "../../src/store/placed/move/plan.ts";
import { tenantId } from "./engines.ts";

function load(name: string, weight: number, ...tuples: readonly number[]) {
  const tenants = tuples.map((count, nth) => ({ id: tenantId(`${name}${nth}`), tuples: count }));
  return { name, weight, tuples: tuples.reduce((sum, one) => sum + one, 0), tenants };
}

test("tenants move to where most is missing, until the clusters have about their shares by weight", () => {
  const moves = planBalance([load("a", 1, 600, 300, 100), load("b", 2), load("c", 1)]);
  assert.deepEqual(
    moves.map(({ tenant, from, to }) => [tenant, from, to]),
    [
      ["a0", "a", "b"],
      ["a2", "a", "c"],
    ],
  );
});

test("a tenant stays that would only make another cluster the full one", () => {
  assert.deepEqual(planBalance([load("a", 1, 1000), load("b", 1)]), []);
});

test("clusters without a weight are left alone, and small differences as well", () => {
  assert.deepEqual(planBalance([load("a", 0, 500), load("b", 1, 52, 50), load("c", 1, 98)]), []);
});

test("tenants of a drained cluster go to the others by weight and number", () => {
  const plan = new DrainPlan([
    { name: "b", weight: 1, tenants: 1 },
    { name: "c", weight: 2, tenants: 0 },
  ]);
  assert.deepEqual([plan.next(), plan.next(), plan.next()], ["c", "c", "c"]);
  assert.equal(new DrainPlan([]).next(), undefined);
});
