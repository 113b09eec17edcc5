import { setImmediate as nextRound } from "node:timers/promises";

import { BackgroundLoop } from "../background-loop.ts";
import {
  type GarbageCollectionOptions,
  type GarbagePass,
  wakeEveryMs,
} from "../garbage-collection.ts";
import type { MemoryData } from "./data.ts";

/** A few milliseconds, for which all requests wait. */
const endedPerBatch = 2_000;

/** Collects in the background, whenever the interval is over. */
export function startGarbageCollection(
  data: MemoryData,
  options: GarbageCollectionOptions,
  tell: {
    readonly collected: (pass: GarbagePass) => void;
    readonly warn: (message: string) => void;
  },
): BackgroundLoop {
  let lastMs = -Infinity;
  return new BackgroundLoop({
    everyMs: wakeEveryMs(options),
    work: async (signal) => {
      data.noteState();
      if (performance.now() - lastMs < options.intervalMs) return;
      const pass = await collectGarbage(data, options, signal);
      if (pass.isComplete) lastMs = performance.now();
      tell.collected(pass);
    },
    failed: (error) => tell.warn(`old history could not be removed: ${String(error)}`),
  });
}

/**
 * Refuses from now on the tokens from before the window, and forgets what only they could need. It
 * stops where it is when its time is over or the signal aborts.
 */
async function collectGarbage(
  data: MemoryData,
  { windowMs, timeoutMs }: Pick<GarbageCollectionOptions, "windowMs" | "timeoutMs">,
  signal?: AbortSignal,
): Promise<GarbagePass> {
  const start = performance.now();
  data.giveUpStates(windowMs);
  let removed = 0;
  let isComplete = false;
  while (!isComplete && performance.now() - start < timeoutMs && !(signal?.aborted ?? false)) {
    const pruned = data.prune(endedPerBatch);
    removed += pruned;
    isComplete = pruned < endedPerBatch;
    await nextRound();
  }
  return { removed, isComplete, milliseconds: performance.now() - start };
}
