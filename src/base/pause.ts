import { setTimeout as wait } from "node:timers/promises";

/** The longest delay of a timer in milliseconds. With a longer one, a timer fires at once. */
const timerMaxMs = 2 ** 31 - 1;

/** The delay, limited to the longest that a timer can wait. */
export function timerMs(milliseconds: number): number {
  return Math.min(milliseconds, timerMaxMs);
}

/**
 * Resolves after that many milliseconds (any number), or when the signal is aborted. It does not
 * keep the process alive.
 */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  for (let left = milliseconds; left > 0 && !signal.aborted; left -= timerMaxMs) {
    const step = timerMs(left);
    // It rejects when the signal is aborted.
    await wait(step, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
