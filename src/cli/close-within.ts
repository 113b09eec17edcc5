import { setTimeout as wait } from "node:timers/promises";

/**
 * Closes the store, and resolves when it is closed or so many milliseconds are over: one whose
 * database is silent must not keep the process. Fails as closing it does.
 */
export async function closeWithin(
  store: { close(): Promise<void> },
  milliseconds: number,
  warn: (message: string) => void,
): Promise<void> {
  const closed = new AbortController();
  const late = wait(milliseconds, undefined, { signal: closed.signal }).then(
    () => warn("the database was left before its connections had ended"),
    () => undefined,
  );
  try {
    await Promise.race([store.close(), late]);
  } finally {
    closed.abort();
  }
}

const flushMaxMs = 1_000;
const flushMinMs = 250;

/**
 * How long what is left to be told may take to be sent at the end, when so much is left of the grace
 * period, both in milliseconds: a collector that is there takes it at once, and one that is gone must not
 * keep the process. A little is given in any case, for the lines that tell why nothing is left.
 */
export function flushTimeOf(leftMs: number): number {
  return Math.max(flushMinMs, Math.min(flushMaxMs, leftMs));
}
