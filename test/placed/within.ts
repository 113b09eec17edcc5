/** Waits of a test that kills what it waits for: each has a limit, and says what did not come. */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

const lookEveryMs = 20;

/** Fails if the work takes longer than three minutes: the machine may be busy. */
export async function within<T>(what: string, work: Promise<T>, limitMs = 180_000): Promise<T> {
  const limit = new AbortController();
  const late = wait(limitMs, undefined, { signal: limit.signal }).then(() =>
    assert.fail(`${what}: not within ${limitMs} ms`),
  );
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    limit.abort();
  }
}

/** Asks until the answer is not undefined. Fails after a minute, if nothing else is said. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  limitMs = 60_000,
): Promise<T> {
  for (const begun = Date.now(); Date.now() - begun < limitMs; await wait(lookEveryMs)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
  }
  return assert.fail(`${what}: not within ${limitMs} ms`);
}
