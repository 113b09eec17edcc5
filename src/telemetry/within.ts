import { setTimeout as wait } from "node:timers/promises";

/** Waits for what is under way, but not for ever, and whether or not it succeeds. */
export async function within(milliseconds: number, work: readonly Promise<void>[]): Promise<void> {
  const over = new AbortController();
  const timeout = wait(milliseconds, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([Promise.allSettled(work), timeout]);
  over.abort();
}
