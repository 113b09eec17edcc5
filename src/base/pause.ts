import { setTimeout as wait } from "node:timers/promises";

import { timerMaxMs, timerMs } from "./timer.ts";

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
