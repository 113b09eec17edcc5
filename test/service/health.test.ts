import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { noTelemetry, type Telemetry } from "../../src/base/telemetry.ts";
import { createHealth, observeHealth } from "../../src/service/health.ts";
import { fakeClusters } from "../support/fake-clusters.ts";

test("a process serves while its storage answers", async () => {
  let alive = true;
  const health = createHealth({
    ping: async () => {
      if (!alive) throw new Error("no connection");
    },
  });
  assert.equal(await health.serving(), true);
  alive = false;
  assert.equal(await health.serving(), false);
  alive = true;
  assert.equal(await health.serving(), true);
});

test("the log has one line when storage does not answer, and one when it answers again", async () => {
  const lines: string[] = [];
  const tell = (message: string): void => void lines.push(message);
  const cause = new Error("connect ECONNREFUSED");
  const problem = new PembaError("UNAVAILABLE", "the database does not answer", { cause });
  const store = {
    isOpening: true,
    isGone: true,
    ping: async () => (store.isGone ? await Promise.reject(problem) : undefined),
  };
  const health = createHealth(store, { warn: tell, info: tell });
  assert.equal(await health.serving(), false);
  assert.deepEqual(lines, []);
  store.isOpening = false;
  const failing =
    "health checks of the database fail: the database does not answer (connect ECONNREFUSED)";
  const again = "health checks of the database succeed again";
  for (const [isGone, line] of [
    [true, failing],
    [true, undefined],
    [false, again],
    [false, undefined],
    [true, failing],
  ] as const) {
    lines.length = 0;
    store.isGone = isGone;
    assert.equal(await health.serving(), !isGone);
    assert.deepEqual(lines, line === undefined ? [] : [line]);
  }
});

test("a draining process does not serve, though its storage answers", async () => {
  const health = createHealth({ ping: async () => {} });
  health.drain();
  assert.equal(await health.serving(), false);
});

test("storage that does not answer within two seconds does not serve", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: string[] = [];
  const tell = (message: string): void => void lines.push(message);
  const silent = { ping: async () => await new Promise<never>(() => {}) };
  const health = createHealth(silent, { warn: tell, info: tell });
  const answer = health.serving();
  t.mock.timers.tick(2_000);
  assert.equal(await answer, false);
  assert.deepEqual(lines, ["health checks of the database fail: nothing came in 2000 ms"]);
});

test("probes at the same time ask storage once", async () => {
  const ping = mock.fn(async () => {});
  const health = createHealth({ ping });
  await Promise.all([health.serving(), health.serving(), health.serving()]);
  assert.equal(ping.mock.callCount(), 1);
});

test("a process serves while one of its clusters answers, and says which ones do", async () => {
  const clusters = fakeClusters("a", "b");
  const lines: string[] = [];
  const tell = (message: string): void => void lines.push(message);
  const store = { ping: async () => await Promise.reject(), clusters };
  const health = createHealth(store, { warn: tell, info: tell });
  assert.deepEqual(
    [...((await health.clusters()) ?? [])],
    [
      ["a", true],
      ["b", true],
    ],
  );
  clusters[1].answers = false;
  assert.deepEqual(
    [...((await health.clusters()) ?? [])],
    [
      ["a", true],
      ["b", false],
    ],
  );
  assert.deepEqual(lines, ["health checks of the cluster `b` fail: Error: it is down"]);
  assert.equal(await health.serving(), true);
  clusters[0].answers = false;
  assert.equal(await health.serving(), false);
});

test("a cluster that is silent does not keep the others from being told", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const clusters = fakeClusters("a", "b");
  clusters[1].ping = async () => await new Promise(() => {});
  const health = createHealth({ ping: async () => {}, clusters });
  const states = health.clusters();
  // The other one has answered by then.
  await new Promise((resolve) => setImmediate(resolve));
  t.mock.timers.tick(2_000);
  assert.deepEqual(
    [...((await states) ?? [])],
    [
      ["a", true],
      ["b", false],
    ],
  );
});

test("readings say what the last probe found, and each one begins a probe", async () => {
  const store = {
    isOpening: true,
    ping: mock.fn(async () => {}),
  };
  const health = createHealth(store);
  const { telemetry, read } = reading();
  observeHealth(telemetry, health, []);
  // Joins the probe that a reading began.
  const probed = async (): Promise<boolean> => await health.serving();
  assert.deepEqual(read(), []);
  await probed();
  assert.deepEqual(read(), [{ value: 1, labels: {} }]);
  store.isOpening = false;
  await probed();
  assert.deepEqual(store.ping.mock.callCount(), 0);
  read();
  await probed();
  assert.deepEqual(store.ping.mock.callCount(), 1);
  store.ping.mock.mockImplementation(async () => await Promise.reject(new Error("gone")));
  assert.deepEqual(read(), [{ value: 0, labels: {} }]);
  await probed();
  assert.deepEqual(read(), [{ value: 1, labels: {} }]);
});

test("a reading of a process that is about to stop begins no probe", async () => {
  const store = { ping: mock.fn(async () => {}) };
  const health = createHealth(store);
  const { telemetry, read } = reading();
  observeHealth(telemetry, health, []);
  await health.serving();
  health.drain();
  assert.deepEqual(read(), [{ value: 0, labels: {} }]);
  assert.equal(store.ping.mock.callCount(), 1);
});

test("readings tell of each cluster, also before any of them is known", async () => {
  const [a, b] = fakeClusters("a", "b");
  const store = { isOpening: true, ping: async () => {}, clusters: [a, b] };
  const health = createHealth(store);
  const { telemetry, read } = reading();
  observeHealth(telemetry, health, ["a", "b"]);
  const valuesOf = async (): Promise<readonly unknown[]> => {
    await health.serving();
    return read();
  };
  const both = (ofA: number, ofB: number): readonly unknown[] => [
    { value: ofA, labels: { cluster: "a" } },
    { value: ofB, labels: { cluster: "b" } },
  ];
  assert.deepEqual(await valuesOf(), both(1, 1));
  store.isOpening = false;
  b.answers = false;
  await health.serving();
  assert.deepEqual(await valuesOf(), both(0, 1));
});

/** Telemetry whose values are read when a test wants. */
function reading(): { readonly telemetry: Telemetry; readonly read: () => readonly unknown[] } {
  const readers: (() => readonly unknown[])[] = [];
  const telemetry: Telemetry = {
    ...noTelemetry,
    observe: (_name, read) => {
      readers.push(read);
    },
  };
  return { telemetry, read: () => readers.flatMap((read) => read()) };
}
