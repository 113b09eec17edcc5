/** Which cluster a new tenant is placed on. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { createMemoryStore } from "../../src/store/memory/store.ts";
import { Cluster } from "../../src/store/placed/cluster.ts";
import { Clusters } from "../../src/store/placed/clusters.ts";
import type { Store } from "../../src/store/store.ts";
import { fails, tenantId } from "./engines.ts";

interface Given {
  readonly weight: number;
  readonly isGone?: boolean;
}

/** Clusters with these weights. None of them has tenants. */
function clustersOf(given: Readonly<Record<string, Given>>): Clusters {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000 });
  const open = async (): Promise<Store> => await Promise.resolve(store);
  return new Clusters(
    Object.entries(given).map(([name, { weight, isGone = false }]) =>
      Cluster.opened({ name, weight, url: "", open, isGone: () => isGone, warn: () => {} }, store),
    ),
  );
}

/** How many of a thousand tenants each cluster gets. */
function shares(clusters: Clusters): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let n = 0; n < 1_000; n++) {
    const { name } = clusters.choose({ id: tenantId(`t-${n}`), name: "" });
    found.set(name, (found.get(name) ?? 0) + 1);
  }
  return found;
}

test("clusters get new tenants by their weights, and none with the weight 0", () => {
  const found = shares(clustersOf({ a: { weight: 1 }, b: { weight: 3 }, c: { weight: 0 } }));
  const [a = 0, b = 0] = [found.get("a"), found.get("b")];
  assert.deepEqual([...found.keys()].toSorted(), ["a", "b"]);
  assert.ok(b > 2.4 * a && b < 3.7 * a, `${a} and ${b}`);
});

test("a cluster that is known to be gone gets no new tenants while another one is there", () => {
  const found = shares(clustersOf({ a: { weight: 1 }, b: { weight: 1, isGone: true } }));
  assert.deepEqual([...found.keys()], ["a"]);
  const none = shares(clustersOf({ a: { weight: 1, isGone: true } }));
  assert.deepEqual([...none.keys()], ["a"]);
});

test("a cluster that a creation names gets the tenant, also without a weight", async () => {
  const clusters = clustersOf({ a: { weight: 1 }, b: { weight: 0 } });
  const named = async (cluster: string): Promise<string> =>
    clusters.choose({ id: tenantId("t"), name: "", cluster }).name;
  assert.equal(await named("b"), "b");
  await fails(named("c"), "VALIDATION", "cluster: `c` is none of");
});
