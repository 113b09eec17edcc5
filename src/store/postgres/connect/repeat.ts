import { setTimeout as wait } from "node:timers/promises";

import { type DriverFault, faultOf } from "./driver-error.ts";

/** After which a statement is repeated. */
export const faultsOfReads = ["conflict", "unreached", "lost"] as const;
export const faultsOfChanges = ["conflict", "unreached"] as const;
export const faultsOfSharedChanges = ["unreached"] as const;

const firstWaitMs = 5;
const longestWaitMs = 500;

/**
 * A server that is away for longer is not waited for: connecting anew has waits of its own, and a
 * client would rather hear of it.
 */
const awayMaxMs = 2_000;

/**
 * Runs `work`, and again up to `retriesMax` times when it fails with one of the faults. Waits longer
 * each time, by a random share, so that callers that collided part. `onRepeat` is called before each.
 */
export async function repeatOn<T>(
  faults: readonly DriverFault[],
  retriesMax: number,
  work: () => Promise<T>,
  onRepeat: (fault: DriverFault) => void = () => {},
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
    const waitMs = Math.min(firstWaitMs * 2 ** attempt, longestWaitMs);
    await wait(waitMs * (0.5 + Math.random()));
  }
}
