import { setTimeout as wait } from "node:timers/promises";

/** Waits until all work has settled, but at most that many milliseconds. */
export async function within(milliseconds: number, work: readonly Promise<void>[]): Promise<void> {
  const over = new AbortController();
  const timeout = wait(milliseconds, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([Promise.allSettled(work), timeout]);
  over.abort();
}
