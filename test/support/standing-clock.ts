import type { TestContext } from "node:test";

/** Both clocks of a process, which move only as a test says. */
export interface StandingClock {
  /** By the clock of `performance`, in milliseconds. */
  readonly now: () => number;
  /** Lets a whole number of milliseconds pass. */
  readonly pass: (ms: number) => void;
}

/** Stops the clock of `performance` and that of `setTimeout` until the test ends. */
export function stopClocks(t: TestContext): StandingClock {
  let now = 1_000_000;
  t.mock.method(performance, "now", () => now);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed++) {
      now += 1;
      t.mock.timers.tick(1);
    }
  };
  return { now: () => now, pass };
}
