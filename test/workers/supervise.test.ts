import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { FromWorker, ToWorker } from "../../src/workers/message.ts";
import { supervise, type WorkerEnd, type WorkerProcess } from "../../src/workers/supervise.ts";

/** A process that a test plays. */
interface PlayedWorker {
  readonly number: number;
  readonly isFirst: boolean;
  readonly isRestart: boolean;
  readonly heard: ToWorker[];
  wasKilled: boolean;
  /** Whether it says that it is alive. */
  answers: boolean;
  becomeReady(): void;
  end(end?: Partial<WorkerEnd>): void;
}

interface Played {
  /** All processes that were started, in their order. */
  readonly started: readonly PlayedWorker[];
  readonly told: readonly string[];
  readonly stop: (signal: string) => void;
  readonly status: Promise<number>;
  /** The process that was started as the nth one, which may still be to come. */
  nth(nth: number): Promise<PlayedWorker>;
}

const readyMs = 120_000;

function play(t: TestContext, workers: number, stopMs = 60_000): Played {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const started: PlayedWorker[] = [];
  const told: string[] = [];
  const stop = Promise.withResolvers<string>();
  const status = supervise(stop.promise, {
    workers,
    readyMs,
    stopMs,
    warn: (_fields, message) => told.push(message),
    ready: () => told.push("ready"),
    stopping: (signal) => told.push(`stopping: ${signal}`),
    start: (worker) => {
      const played = playedWorker(worker);
      started.push(played.worker);
      return played.process;
    },
  });
  return {
    started,
    told,
    stop: stop.resolve,
    status,
    nth: async (nth) => {
      // A restart waits for a timer of no length, and for some promises.
      for (let turn = 0; turn < 100 && started[nth] === undefined; turn++) {
        t.mock.timers.tick(0);
        await Promise.resolve();
      }
      return started[nth] ?? assert.fail(`${started.length} processes were started`);
    },
  };
}

function playedWorker(given: Pick<PlayedWorker, "number" | "isFirst" | "isRestart">): {
  readonly worker: PlayedWorker;
  readonly process: WorkerProcess;
} {
  const listeners: ((message: FromWorker) => void)[] = [];
  const endListeners: ((end: WorkerEnd) => void)[] = [];
  const say = (message: FromWorker): void => listeners.forEach((listener) => listener(message));
  const end = (how: WorkerEnd): void => endListeners.forEach((listener) => listener(how));
  const worker: PlayedWorker = {
    ...given,
    heard: [],
    wasKilled: false,
    answers: true,
    becomeReady: () => say({ kind: "ready" }),
    end: (how) => end({ status: 0, signal: undefined, ...how }),
  };
  return {
    worker,
    process: {
      send: (message) => {
        if (message.kind !== "ask_alive") worker.heard.push(message);
        else if (worker.answers) say({ kind: "alive" });
      },
      kill: () => {
        worker.wasKilled = true;
        end({ status: undefined, signal: "SIGKILL" });
      },
      onMessage: (listener) => listeners.push(listener),
      onEnd: (listener) => endListeners.push(listener),
    },
  };
}

/** As many as are wanted, all ready. */
async function ready(t: TestContext, workers: number, stopMs?: number): Promise<Played> {
  const played = play(t, workers, stopMs);
  for (let nth = 0; nth < workers; nth++) (await played.nth(nth)).becomeReady();
  assert.deepEqual(played.told, ["ready"]);
  return played;
}

test("the first worker is ready before the others are started, and the instance when all are", async (t) => {
  const { started, told } = play(t, 3);
  assert.deepEqual(
    started.map(({ number, isFirst, isRestart }) => ({ number, isFirst, isRestart })),
    [{ number: 1, isFirst: true, isRestart: false }],
  );
  started[0]?.becomeReady();
  assert.deepEqual(
    started.slice(1).map(({ number, isFirst, isRestart }) => ({ number, isFirst, isRestart })),
    [
      { number: 2, isFirst: false, isRestart: false },
      { number: 3, isFirst: false, isRestart: false },
    ],
  );
  started[2]?.becomeReady();
  assert.deepEqual(told, []);
  started[1]?.becomeReady();
  assert.deepEqual(told, ["ready"]);
});

test("a worker that cannot start ends the instance with its status, and the others with it", async (t) => {
  const alone = play(t, 2);
  alone.started[0]?.end({ status: 3 });
  assert.equal(await alone.status, 3);
  assert.equal(alone.started.length, 1);
  t.mock.timers.reset();
  const second = play(t, 2);
  second.started[0]?.becomeReady();
  second.started[1]?.end({ status: 4 });
  assert.deepEqual(
    second.started[0]?.heard.map(({ kind }) => kind),
    ["stop"],
  );
  second.started[0]?.end();
  assert.equal(await second.status, 4);
  assert.deepEqual(second.told, []);
});

test("a worker that ends later is replaced under its number, at once the first time", async (t) => {
  const played = await ready(t, 2);
  played.started[1]?.end({ status: undefined, signal: "SIGKILL" });
  const next = await played.nth(2);
  assert.deepEqual(
    { number: next.number, isFirst: next.isFirst, isRestart: next.isRestart },
    { number: 2, isFirst: false, isRestart: true },
  );
});

test("a worker that fails again and again is replaced more and more slowly, the others are not touched", async (t) => {
  const played = await ready(t, 2);
  let wait = 250;
  for (let failure = 1; failure <= 8; failure++) {
    const count = played.started.length;
    played.started.findLast(({ number }) => number === 2)?.end({ status: 1 });
    if (failure > 1) {
      await settled();
      t.mock.timers.tick(wait - 1);
      await settled();
      assert.equal(played.started.length, count, `after failure ${failure}`);
      t.mock.timers.tick(1);
      wait = Math.min(10_000, 2 * wait);
    }
    (await played.nth(count)).becomeReady();
  }
  assert.equal(wait, 10_000);
  assert.deepEqual(played.started[0]?.heard, []);
});

test("a worker that does not answer for a minute is ended and replaced", async (t) => {
  const played = await ready(t, 2);
  const [first, second] = played.started;
  assert.ok(first !== undefined && second !== undefined);
  t.mock.timers.tick(300_000);
  second.answers = false;
  t.mock.timers.tick(55_000);
  // Late is not never.
  second.answers = true;
  t.mock.timers.tick(10_000);
  second.answers = false;
  t.mock.timers.tick(64_999);
  assert.equal(second.wasKilled, false);
  t.mock.timers.tick(1);
  assert.equal(second.wasKilled, true);
  assert.equal((await played.nth(2)).number, 2);
  assert.deepEqual(played.told.slice(1), [
    "a worker that does not answer is ended",
    "a worker has ended, another process takes its place",
  ]);
  assert.equal(first.wasKilled, false);
});

test("a worker in the place of another one is ended and replaced if it does not become ready in time", async (t) => {
  const played = await ready(t, 2);
  played.started[1]?.end({ status: 1 });
  let hanging = await played.nth(2);
  for (let nth = 3; nth < 7; nth++) {
    await settled();
    t.mock.timers.tick(readyMs - 1);
    assert.equal(hanging.wasKilled, false);
    t.mock.timers.tick(1);
    assert.equal(hanging.wasKilled, true);
    assert.equal(played.told.at(-2), "a worker that does not become ready is ended");
    await settled();
    t.mock.timers.tick(2_000);
    hanging = await played.nth(nth);
  }
  hanging.becomeReady();
  t.mock.timers.tick(2 * readyMs);
  assert.equal(hanging.wasKilled, false);
  assert.equal(played.started.length, 7);
});

test("an instance ends if five workers in a row hang before they are ready", async (t) => {
  const played = await ready(t, 2);
  played.started[1]?.end({ status: 1 });
  for (let nth = 2; nth < 7; nth++) {
    await played.nth(nth);
    t.mock.timers.tick(readyMs);
    await settled();
    t.mock.timers.tick(10_000);
  }
  assert.equal(played.started.length, 7);
  assert.match(played.told.at(-1) ?? "", /^5 workers in a row have ended before they were ready/);
  assert.deepEqual(
    played.started[0]?.heard.map(({ kind }) => kind),
    ["stop"],
  );
});

test("a worker that is slow to start is waited for", async (t) => {
  const { started, told } = play(t, 1);
  const [slow] = started;
  assert.ok(slow !== undefined);
  slow.answers = false;
  t.mock.timers.tick(600_000);
  assert.equal(slow.wasKilled, false);
  slow.becomeReady();
  assert.deepEqual(told, ["ready"]);
});

test("the instance ends when five workers in a row were never ready again", async (t) => {
  const played = await ready(t, 2);
  played.started[1]?.end({ status: 1 });
  for (let nth = 2; nth < 7; nth++) {
    t.mock.timers.tick(10_000);
    await settled();
    (await played.nth(nth)).end({ status: 7 });
    await settled();
  }
  played.started[0]?.end();
  assert.equal(await played.status, 7);
  assert.match(played.told.at(-1) ?? "", /^5 workers in a row have ended before they were ready/);
});

test("a stop is passed to all workers, and ends when all have ended", async (t) => {
  const played = await ready(t, 2);
  played.stop("SIGINT");
  await settled();
  assert.equal(played.told.at(-1), "stopping: SIGINT");
  for (const { heard } of played.started) {
    assert.deepEqual(heard, [{ kind: "stop", signal: "SIGINT" }]);
  }
  let hasEnded = false;
  void played.status.then(() => (hasEnded = true));
  played.started[0]?.end();
  await settled();
  assert.equal(hasEnded, false);
  played.started[1]?.end();
  assert.equal(await played.status, 0);
});

test("a stop ends the wait for a worker that is to be replaced", async (t) => {
  const played = await ready(t, 2);
  for (let nth = 1; nth <= 2; nth++) {
    (await played.nth(nth)).end({ status: 1 });
    await settled();
  }
  played.stop("SIGTERM");
  await settled();
  played.started[0]?.end();
  assert.equal(await played.status, 0);
  assert.equal(played.started.length, 3);
});

test("a worker that does not end in time is killed, and the status tells it", async (t) => {
  const played = await ready(t, 2, 5_000);
  played.stop("SIGTERM");
  await settled();
  played.started[0]?.end();
  t.mock.timers.tick(5_000);
  assert.equal(await played.status, 1);
  assert.deepEqual(
    played.started.map(({ wasKilled }) => wasKilled),
    [false, true],
  );
});

/** What is due by promises alone has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
