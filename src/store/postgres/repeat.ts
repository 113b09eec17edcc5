import { setTimeout } from "node:timers/promises";

import { PembaError } from "../../base/error.ts";

const firstWaitMs = 5;
const longestWaitMs = 500;

/**
 * Runs `work`, and again up to `retriesMax` times when it fails with SERIALIZATION: then nothing of
 * it was done. Waits longer each time, by a random share, so that those who collided part.
 */
export async function repeatOnConflict<T>(retriesMax: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const repeatable = error instanceof PembaError && error.code === "SERIALIZATION";
      if (!repeatable || attempt >= retriesMax) throw error;
    }
    const wait = Math.min(firstWaitMs * 2 ** attempt, longestWaitMs);
    await setTimeout(wait * (0.5 + Math.random()));
  }
}
