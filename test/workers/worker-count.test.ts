import assert from "node:assert/strict";
import { test } from "node:test";

import { workerCountOf } from "../../src/workers/worker-count.ts";
import { loadedFrom, problemsOf } from "../support/given-config.ts";

const postgres = ["--database-engine=postgres", "--database-uri=postgres://h/x"];

const gibibyte = 1_024 ** 3;

function countOf(processors: number, ...args: readonly string[]): number {
  return workerCountOf(loadedFrom({ args }).config, { processors, memory: 64 * gibibyte }).workers;
}

test("auto is one worker for each processor on Postgres, as long as each has five connections", () => {
  const auto = [...postgres, "--server-workers=auto"];
  assert.deepEqual(
    [1, 2, 3, 4, 5, 64].map((processors) => countOf(processors, ...auto)),
    [1, 2, 3, 4, 4, 4],
  );
  assert.equal(countOf(64, ...auto, "--database-max-connections=80"), 16);
  assert.equal(countOf(64, ...auto, "--database-max-connections=3"), 1);
});

test("auto has half a gibibyte for each worker", () => {
  const { config } = loadedFrom({ args: [...postgres, "--server-workers=auto"] });
  assert.deepEqual(
    [0.25, 0.5, 1, 1.4, 1.5, 2, 8].map(
      (part) => workerCountOf(config, { processors: 64, memory: part * gibibyte }).workers,
    ),
    [1, 1, 2, 2, 3, 4, 4],
  );
});

test("on the memory engine there is one worker, and more are refused", () => {
  assert.equal(countOf(8, "--server-workers=auto"), 1);
  assert.equal(countOf(8, "--server-workers=1"), 1);
  assert.deepEqual(problemsOf({ args: ["--server-workers=2"] }), [
    "`server.workers`: is 2, expected 1 or auto since `database.engine` is `memory`",
  ]);
});

test("a number is taken as it is, up to the processors, and beyond with a warning", () => {
  const { config } = loadedFrom({ args: [...postgres, "--server-workers=3"] });
  assert.deepEqual(workerCountOf(config, { processors: 8, memory: gibibyte }), {
    workers: 3,
    warning: undefined,
  });
  assert.deepEqual(workerCountOf(config, { processors: 2, memory: gibibyte }), {
    workers: 2,
    warning: "`server.workers`: is 3, but there are 2 processors, so 2 workers are started",
  });
});

test("more workers than connections are refused, and so is what is no number of workers", () => {
  const few = [...postgres, "--database-max-connections=4"];
  assert.deepEqual(problemsOf({ args: [...few, "--server-workers=4"] }), []);
  assert.deepEqual(problemsOf({ args: [...few, "--server-workers=5"] }), [
    "`server.workers`: is 5, expected at most 4, since each worker needs one of `database.max_connections`",
  ]);
  for (const text of ["0", "1025", "2.5", "all", "Auto"]) {
    assert.deepEqual(problemsOf({ args: [`--server-workers=${text}`] }), [
      `--server-workers: \`server.workers\`: \`${text}\` is not allowed, expected auto or a whole number from 1 to 1024`,
    ]);
  }
});
