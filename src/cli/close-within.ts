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
