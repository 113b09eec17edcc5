import assert from "node:assert/strict";
import { test } from "node:test";

import { withPartOfCaches } from "../../src/cli/cluster-caches.ts";
import { loadedFrom } from "../support/given-config.ts";

test("clusters divide the memory of the caches, and each has the limits", () => {
  const { config } = loadedFrom({ args: ["--service-permission-cache-number-of-counters=2"] });
  for (const clusters of [1, 3]) {
    const part = withPartOfCaches(config, clusters);
    for (const key of [
      "service.permission.cache.max_cost",
      "service.schema.cache.max_cost",
    ] as const) {
      assert.equal(part[key], Math.floor(config[key] / clusters), key);
    }
    for (const key of [
      "database.max_connections",
      "service.permission.concurrency_limit",
    ] as const) {
      assert.equal(part[key], config[key], key);
    }
  }
  const many = withPartOfCaches(config, 5);
  assert.equal(many["service.permission.cache.number_of_counters"], 1);
});
