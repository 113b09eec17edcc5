import assert from "node:assert/strict";
import { test } from "node:test";

import { noTelemetry, ofCluster, type Telemetry } from "../../src/base/telemetry.ts";

test("what a cluster records has its name, and says nothing less", async () => {
  const told: unknown[] = [];
  const all: Telemetry = {
    ...noTelemetry,
    isOn: true,
    add: (...said) => void told.push(said),
    record: (...said) => void told.push(said),
    observe: (name, read) => void told.push([name, read()]),
    event: (...said) => void told.push(said),
    span: async (name, work) => await work({ set: (given) => void told.push([name, given]) }),
  };
  const own = ofCluster(all, "b");
  own.add("db.client.retries", 1, { fault: "lost" });
  own.record("pemba.queue.wait", 2, { queue: "reads" });
  own.observe("pemba.queue.running", () => [{ value: 3, labels: { queue: "reads" } }]);
  own.event("found", { count: 1 });
  assert.equal(await own.span("check", async () => "answer"), "answer");
  assert.equal(own.isOn, true);
  assert.deepEqual(told, [
    ["db.client.retries", 1, { fault: "lost", cluster: "b" }],
    ["pemba.queue.wait", 2, { queue: "reads", cluster: "b" }],
    ["pemba.queue.running", [{ value: 3, labels: { queue: "reads", cluster: "b" } }]],
    ["found", { count: 1, "pemba.cluster": "b" }],
    ["check", { "pemba.cluster": "b" }],
  ]);
});
