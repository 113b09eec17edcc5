import assert from "node:assert/strict";
import { test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { freePorts } from "../support/free-ports.ts";
import { servePemba } from "../support/pemba.ts";

test("a server has each of its queues", async (t) => {
  const port = must((await freePorts(1))[0], "a port is free");
  await servePemba(t, [
    "--meter-prometheus-enabled",
    "--meter-prometheus-host=127.0.0.1",
    `--meter-prometheus-port=${port}`,
  ]);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const queues = [...text.matchAll(/^pemba_queue_running\{queue="(\w+)"/gm)].map(
    ([, name]) => name,
  );
  assert.deepEqual(new Set(queues), new Set(["questions", "large", "reads", "changes"]));
});
