import { performance } from "node:perf_hooks";
import type { TestContext } from "node:test";

/** The clocks of a process, which move only as a test says. */
export interface StandingClock {
  /** By the clock of `performance`, in milliseconds. */
  readonly now: () => number;
  /** Lets a whole number of milliseconds pass, in which the process has nothing to do. */
  readonly pass: (ms: number) => void;
  /** Lets a whole number of milliseconds pass, in which the process is busy. */
  readonly work: (ms: number) => void;
}

/** Stops the clock of `performance`, with its count of idle time, and that of `setTimeout` until the test ends. */
export function stopClocks(t: TestContext): StandingClock {
  let now = 1_000_000;
  let idle = 0;
  t.mock.method(performance, "now", () => now);
  t.mock.getter(performance.nodeTiming, "idleTime", () => idle);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const move = (ms: number, idlePart: 0 | 1): void => {
    for (let passed = 0; passed < ms; passed++) {
      now += 1;
      idle += idlePart;
      t.mock.timers.tick(1);
    }
  };
  return { now: () => now, pass: (ms) => move(ms, 1), work: (ms) => move(ms, 0) };
}
