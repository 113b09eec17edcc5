import { setTimeout as wait } from "node:timers/promises";

/**
 * Closes the store, and resolves when it is closed or after that many milliseconds, so that an
 * unresponsive database does not keep the process alive. Fails as closing does.
 */
export async function closeWithin(
  store: { close(): Promise<void> },
  milliseconds: number,
  warn: (message: string) => void,
): Promise<void> {
  const closed = new AbortController();
  const late = wait(milliseconds, undefined, { signal: closed.signal }).then(
    () => warn("the process ended before the connections to the database were closed"),
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
 * The time for sending the remaining telemetry at the end, from the rest of the grace period, both
 * in milliseconds. A reachable collector takes it at once, and an unreachable one must not keep the
 * process alive. A short time is always given, for the lines about the end itself.
 */
export function flushTimeOf(leftMs: number): number {
  return Math.max(flushMinMs, Math.min(flushMaxMs, leftMs));
}
