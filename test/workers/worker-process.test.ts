import assert from "node:assert/strict";
import cluster from "node:cluster";
import { test, type TestContext } from "node:test";

import type { WorkerEnd } from "../../src/workers/supervise.ts";
import { startWorkerProcess } from "../../src/workers/worker-process.ts";
import { configOf } from "../support/given-config.ts";

/** How a worker ends that is started with these settings. */
async function endWith(
  t: TestContext,
  settings: Readonly<Partial<typeof cluster.settings>>,
): Promise<WorkerEnd> {
  const usual = { ...cluster.settings };
  t.after(() => cluster.setupPrimary({ cwd: undefined, args: [], ...usual }));
  cluster.setupPrimary(settings);
  const { promise, resolve } = Promise.withResolvers<WorkerEnd>();
  const worker = startWorkerProcess({
    number: 1,
    workers: 2,
    config: configOf({}),
    instance: "one",
    listensAtOnce: true,
    tellsStart: true,
  });
  worker.onEnd(resolve);
  return await promise;
}

test("a process that the system does not start has ended, and says why", async (t) => {
  const { status, signal, problem } = await endWith(t, { cwd: "/there/is/no/such/folder" });
  assert.deepEqual([status, signal], [undefined, undefined]);
  assert.match(problem ?? "", /ENOENT/);
});

test("a process that cannot even be tried to be started has ended, and says why", async (t) => {
  const { problem } = await endWith(t, { args: ["\0"] });
  assert.match(problem ?? "", /null bytes/);
});
