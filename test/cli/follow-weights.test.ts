/** Weights of clusters that change in the configuration file of a running server. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";

import { followWeights } from "../../src/cli/follow-weights.ts";
import { loadConfig } from "../../src/config/load.ts";
import { until } from "../store/open-write.ts";
import { fakeClusters } from "../support/fake-clusters.ts";
import { configOf, file } from "../support/given-config.ts";

/** The text of a file with two clusters. */
function textWith(weight: number, host = "two"): string {
  return `
database:
  engine: postgres
  clusters:
    - { name: a, uri: "postgres://one/pemba" }
    - { name: b, uri: "postgres://${host}/pemba", weight: ${weight} }
`;
}

interface Followed {
  /** Of the cluster b. */
  readonly weight: () => number;
  readonly told: readonly string[];
  readonly write: (text: string) => void;
}

/** Follows a file, in which the cluster b has this weight at first. The process has the weight 1. */
function follow(t: TestContext, first = 1): Followed {
  const path = file(t, textWith(first));
  const told: string[] = [];
  const clusters = fakeClusters("a", "b");
  const config = configOf({ args: ["-c", path] });
  const followed = {
    clusters,
    entries: config["database.clusters"],
    load: () => loadConfig({ flags: new Map([["config", path]]), env: {} }),
    logger: {
      info: (_object: object, message?: string) => void told.push(message ?? ""),
      warn: (message: unknown) => void told.push(String(message)),
    },
  };
  void followWeights(followed, t.signal, 5);
  return {
    weight: () => clusters[1].weight,
    told,
    write: (text) => writeFileSync(path, text),
  };
}

test("a weight that changes in the file is taken over, also that of a drained cluster", async (t) => {
  const { weight, told, write } = follow(t);
  for (const next of [0, 5]) {
    write(textWith(next));
    assert.ok(await until(async () => weight() === next || undefined));
  }
  assert.deepEqual(told, Array(2).fill("new tenants are placed by new weights"));
});

test("a process that is started after a change takes it over at once", (t) => {
  const { weight, told } = follow(t, 0);
  assert.deepEqual([weight(), told], [0, ["new tenants are placed by new weights"]]);
});

test("another change of the clusters is told once, and takes a restart", async (t) => {
  const { weight, told, write } = follow(t);
  write(textWith(0, "three"));
  assert.ok(await until(async () => told.length > 0 || undefined));
  assert.match(told[0] ?? "", /changed in more than its weights, which takes a restart/);
  write("database: {");
  assert.ok(await until(async () => told.length > 1 || undefined));
  assert.match(told[1] ?? "", /stay as they are: .*config\.yaml/);
  assert.equal(weight(), 1);
});
