import assert from "node:assert/strict";
import { beforeEach, describe, type TestContext, test } from "node:test";

import { cancelled, PembaError } from "../../src/base/error.ts";
import {
  CircuitBreaker,
  type CircuitState,
} from "../../src/store/postgres/connect/circuit-breaker.ts";
import { storageError } from "../../src/store/postgres/connect/driver-error.ts";

/*
 * The breaker by itself, with a clock and a probe of the test; with a real server it is in
 * test/cli/circuit-breaker.test.ts.
 */

const outage = (code = "ECONNREFUSED"): PembaError =>
  storageError(Object.assign(new Error("no way"), { code }));

describe("the circuit breaker", () => {
  let now: number;
  let isAlive: boolean;
  let probes: number;
  let states: CircuitState[];
  let silences: number;

  beforeEach(() => {
    now = 0;
    isAlive = true;
    probes = 0;
    states = [];
    silences = 0;
  });

  function open(t: TestContext): CircuitBreaker {
    t.mock.timers.enable({ apis: ["setInterval", "setTimeout"] });
    const breaker = new CircuitBreaker({
      now: () => now,
      onChange: (state) => states.push(state),
      onSilence: () => silences++,
      probe: async () => {
        probes++;
        if (!isAlive) throw outage();
      },
    });
    t.after(() => breaker.close());
    return breaker;
  }

  /** Lets seconds pass, and what they set off be done. */
  async function pass(t: TestContext, seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      now += 1_000;
      t.mock.timers.tick(1_000);
      await settled();
    }
  }

  async function fail(breaker: CircuitBreaker, error: Error, times = 1): Promise<void> {
    for (let time = 0; time < times; time++) {
      const failing = breaker.run(async () => {
        throw error;
      });
      await assert.rejects(failing, error);
    }
  }

  const refused = { code: "CIRCUIT_BREAKER", kind: "unavailable" };

  test("it opens after five outages in a row, and then does no work", async (t) => {
    const breaker = open(t);
    await fail(breaker, outage(), 4);
    await fail(breaker, outage("CONNECT_TIMEOUT"));
    assert.deepEqual(states, ["open"]);
    const work = t.mock.fn(async () => {});
    await assert.rejects(breaker.run(work), refused);
    assert.equal(work.mock.callCount(), 0);
  });

  test("an answer between outages begins the row anew, an error of the server too", async (t) => {
    const breaker = open(t);
    await fail(breaker, outage(), 4);
    await breaker.run(async () => 1);
    await fail(breaker, outage(), 4);
    await fail(breaker, storageError(Object.assign(new Error("bad"), { code: "42601" })));
    await fail(breaker, outage(), 4);
    assert.deepEqual(states, []);
  });

  test("what is cancelled, refused or ended by the server never counts", async (t) => {
    const breaker = open(t);
    await fail(breaker, cancelled(undefined), 10);
    await fail(breaker, new PembaError("CONCURRENCY_LIMIT_EXCEEDED", "too many"), 10);
    await fail(breaker, new PembaError("TENANT_NOT_FOUND", "no tenant"), 10);
    await fail(breaker, storageError(Object.assign(new Error("late"), { code: "57014" })), 10);
    assert.deepEqual(states, []);
  });

  test("what is cancelled between outages does not hide them", async (t) => {
    const breaker = open(t);
    for (let time = 0; time < 5; time++) {
      await fail(breaker, cancelled(undefined));
      await fail(breaker, outage());
    }
    assert.deepEqual(states, ["open"]);
  });

  test("what gets no answer in its time is none, and what the server ends is one", async (t) => {
    const breaker = open(t);
    const late = (cause?: Error): PembaError =>
      new PembaError("DEADLINE_EXCEEDED", "too late", { cause });
    const ended = storageError(Object.assign(new Error("ended"), { code: "57014" }));
    await fail(breaker, outage(), 4);
    await fail(breaker, late(ended));
    await fail(breaker, outage(), 4);
    await fail(breaker, late());
    await fail(breaker, late(outage("CONNECTION_DESTROYED")));
    assert.deepEqual(states, []);
    await fail(breaker, outage());
    assert.deepEqual(states, ["open"]);
  });

  test("while it is open one probe a second asks, and the first that is answered closes it", async (t) => {
    const breaker = open(t);
    isAlive = false;
    await fail(breaker, outage(), 5);
    await pass(t, 4);
    assert.equal(probes, 4);
    await assert.rejects(
      breaker.run(async () => 1),
      refused,
    );
    isAlive = true;
    await pass(t, 1);
    assert.deepEqual(states, ["open", "closed"]);
    assert.equal(await breaker.run(async () => 1), 1);
    await pass(t, 10);
    assert.equal(probes, 5);
  });

  test("a server that says nothing is found out, and what waits for it fails", async (t) => {
    const breaker = open(t);
    isAlive = false;
    const waiting = assert.rejects(
      breaker.run(async () => await new Promise(() => {})),
      { code: "UNAVAILABLE", message: /does not answer/ },
    );
    await pass(t, 7);
    await waiting;
    assert.deepEqual(states, ["open"]);
    assert.equal(silences, 1);
  });

  test("a statement that takes long on a server that lives is waited for", async (t) => {
    const breaker = open(t);
    const { promise, resolve } = Promise.withResolvers<number>();
    const waiting = breaker.run(async () => await promise);
    await pass(t, 60);
    resolve(7);
    assert.equal(await waiting, 7);
    assert.deepEqual(states, []);
    assert.ok(probes > 0 && probes <= 12, `${probes} probes`);
    assert.equal(silences, 0);
  });
});

/** Resolves when promises that are settled have been heard. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
