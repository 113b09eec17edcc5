import { setTimeout } from "node:timers/promises";

import { type Fault, faultOf } from "./driver-error.ts";

const firstWaitMs = 5;
const longestWaitMs = 500;

/**
 * A server that is away for longer is not waited for: connecting anew has waits of its own, and a
 * client would rather hear of it.
 */
const awayMaxMs = 2_000;

/**
 * Runs `work`, and again up to `retriesMax` times when it fails with one of the faults. Waits longer
 * each time, by a random share, so that those who collided part. `onRepeat` is told of each.
 */
export async function repeatOn<T>(
  faults: readonly Fault[],
  retriesMax: number,
  work: () => Promise<T>,
  onRepeat: (fault: Fault) => void = () => {},
): Promise<T> {
  const start = performance.now();
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const fault = faultOf(error);
      const isAway = fault !== "conflict" && performance.now() - start > awayMaxMs;
      if (!faults.includes(fault) || isAway || attempt >= retriesMax) throw error;
      onRepeat(fault);
    }
    const wait = Math.min(firstWaitMs * 2 ** attempt, longestWaitMs);
    await setTimeout(wait * (0.5 + Math.random()));
  }
}
