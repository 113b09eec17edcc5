import assert from "node:assert/strict";
import { test } from "node:test";

import { workerCountOf } from "../../src/workers/worker-count.ts";
import { loadedFrom, problemsOf } from "../support/given-config.ts";

const postgres = ["--database-engine=postgres", "--database-uri=postgres://h/x"];

const gibibyte = 1_024 ** 3;

function countOf(processors: number, ...args: readonly string[]): number {
  return workerCountOf(loadedFrom({ args }).config, { processors, memory: 64 * gibibyte }).workers;
}

test("auto is one worker for each processor beside a Postgres elsewhere, as long as each has five connections", () => {
  const auto = [...postgres, "--server-workers=auto"];
  assert.deepEqual(
    [1, 2, 3, 4, 5, 64].map((processors) => countOf(processors, ...auto)),
    [1, 2, 3, 4, 4, 4],
  );
  assert.equal(countOf(64, ...auto, "--database-max-connections=80"), 16);
  assert.equal(countOf(64, ...auto, "--database-max-connections=3"), 1);
});

test("auto leaves half of the processors to a Postgres of the same machine", () => {
  const counts = (uri: string) =>
    [1, 2, 3, 4, 64].map((processors) => countOf(processors, "--database-engine=postgres", uri));
  for (const place of [
    "localhost",
    "LOCALHOST:5433",
    "127.0.0.1:6432",
    "127.1.2.3",
    "[::1]:5433",
    "[::1],localhost:5433,127.0.0.1",
    "%2Fvar%2Frun%2Fpostgresql",
  ]) {
    assert.deepEqual(counts(`--database-uri=postgres://me@${place}/x`), [1, 1, 1, 2, 4], place);
  }
  for (const place of [
    "db",
    "localhost.example.com",
    "10.0.0.1",
    "[2001:db8::1]",
    "localhost,db",
    "db,localhost",
  ]) {
    assert.deepEqual(counts(`--database-uri=postgres://me@${place}/x`), [1, 2, 3, 4, 4], place);
  }
});

test("a URI without a host is where the environment says, or on the same machine", () => {
  const count = () => countOf(4, "--database-engine=postgres", "--database-uri=postgres:///x");
  const before = process.env["PGHOST"];
  try {
    delete process.env["PGHOST"];
    assert.equal(count(), 2);
    process.env["PGHOST"] = "db";
    assert.equal(count(), 4);
    process.env["PGHOST"] = "/run/postgresql";
    assert.equal(count(), 2);
  } finally {
    if (before === undefined) delete process.env["PGHOST"];
    else process.env["PGHOST"] = before;
  }
});

test("where the database is depends on the servers that answer reads", () => {
  const near = "postgres://localhost/x";
  const far = "postgres://db/x";
  for (const [flags, workers] of [
    [[`--database-writer-uri=${near}`], 2],
    [[`--database-writer-uri=${far}`], 4],
    [[`--database-uri=${near}`, `--database-writer-uri=${far}`], 2],
    [[`--database-uri=${far}`, `--database-writer-uri=${near}`], 4],
    [[`--database-uri=${near}`, `--database-reader-uri=${far}`], 4],
    [[`--database-uri=${far}`, `--database-reader-uri=${near}`], 2],
    [[`--database-uri=${near}`, "--database-reader-uri=postgres://localhost,db/x"], 4],
  ] as const) {
    assert.equal(countOf(4, "--database-engine=postgres", ...flags), workers, flags.join(" "));
  }
});

test("of clusters each one has to be on the same machine", () => {
  const count = (...clusters: readonly object[]) =>
    countOf(
      4,
      "--database-engine=postgres",
      `--database-clusters=${JSON.stringify(clusters.map((it, nth) => ({ name: `c${nth}`, ...it })))}`,
    );
  const one = { uri: "postgres://localhost/one" };
  assert.equal(count(one, { uri: "postgres://localhost:5433/two" }), 2);
  assert.equal(count(one, { uri: "postgres://db/two" }), 4);
  assert.equal(count(one, { uri: "postgres://db/two", reader: "postgres://[::1]/two" }), 2);
  assert.equal(count({ ...one, reader: "postgres://db/one" }), 4);
});

test("a number of workers is taken beside a Postgres of the same machine, too", () => {
  const near = ["--database-engine=postgres", "--database-uri=postgres://localhost/x"];
  assert.equal(countOf(4, ...near, "--server-workers=4"), 4);
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
