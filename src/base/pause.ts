import { setTimeout as wait } from "node:timers/promises";

/** What a timer of the platform can wait for at most; asked for more, it does not wait at all. */
const longestWait = 2 ** 31 - 1;

/**
 * Resolves after so many milliseconds, of which there may be any number, or when the signal is
 * aborted. It does not keep the process alive.
 */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  for (let left = milliseconds; left > 0 && !signal.aborted; left -= longestWait) {
    const step = Math.min(left, longestWait);
    // It rejects when the signal is aborted.
    await wait(step, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
