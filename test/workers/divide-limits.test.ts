import assert from "node:assert/strict";
import { test } from "node:test";

import type { Config } from "../../src/config/options.ts";
import { dividedConfig } from "../../src/workers/divide-limits.ts";
import { loadedFrom } from "../support/given-config.ts";

function parts(workers: number, ...args: readonly string[]): readonly Config[] {
  const { config } = loadedFrom({ args });
  return Array.from({ length: workers }, (_, index) =>
    dividedConfig(config, { number: index + 1, workers }),
  );
}

test("the connections and caches of the workers add up to those of the instance", () => {
  const keys = [
    "database.max_connections",
    "database.min_connections",
    "service.permission.concurrency_limit",
    "service.permission.cache.number_of_counters",
    "service.permission.cache.max_cost",
    "service.schema.cache.number_of_counters",
    "service.schema.cache.max_cost",
    "server.connection_limit",
  ] as const;
  const given = ["--database-min-connections=7"];
  const [whole] = parts(1, ...given);
  assert.ok(whole !== undefined);
  for (const workers of [2, 3, 16]) {
    const divided = parts(workers, ...given);
    for (const key of keys) {
      const values = divided.map((part) => part[key]);
      assert.equal(
        values.reduce((sum, value) => sum + value, 0),
        whole[key],
        key,
      );
      assert.ok(Math.max(...values) - Math.min(...values) <= 1, key);
    }
  }
});

test("every worker can work, however little there is to divide", () => {
  const divided = parts(
    3,
    "--service-permission-concurrency-limit=2",
    "--server-connection-limit=1",
  );
  assert.deepEqual(
    divided.map((part) => part["service.permission.concurrency_limit"]),
    [1, 1, 1],
  );
  assert.deepEqual(
    divided.map((part) => part["server.connection_limit"]),
    [1, 1, 1],
  );
});

test("the connections of clusters are divided, too", () => {
  const clusters = [
    { name: "a", uri: "postgres://h/a", max_connections: 7, min_connections: 2 },
    { name: "b", uri: "postgres://h/b", max_connections: 1 },
    { name: "c", uri: "postgres://h/c" },
  ];
  const given = ["--database-engine=postgres", `--database-clusters=${JSON.stringify(clusters)}`];
  const divided = parts(2, ...given).map((part) =>
    part["database.clusters"].map(({ maxConnections, minConnections }) => [
      maxConnections,
      minConnections,
    ]),
  );
  assert.deepEqual(divided, [
    [
      [4, 1],
      [1, undefined],
      [undefined, undefined],
    ],
    [
      [3, 1],
      [1, undefined],
      [undefined, undefined],
    ],
  ]);
});

test("the removal of history is the work of the first worker", () => {
  const divided = parts(3, "--database-garbage-collection-enabled");
  assert.deepEqual(
    divided.map((part) => part["database.garbage_collection.enabled"]),
    [true, false, false],
  );
});

test("the profiler of each worker has a port of its own, or any free one", () => {
  const portsOf = (...args: readonly string[]): readonly number[] =>
    parts(3, ...args).map((part) => part["profiler.port"]);
  assert.deepEqual(portsOf(), [6_060, 6_061, 6_062]);
  assert.deepEqual(portsOf("--profiler-port=0"), [0, 0, 0]);
});
