/** What a timer of the platform can wait for at most; asked for more, it does not wait at all. */
export const timerMaxMs = 2 ** 31 - 1;

/** The milliseconds, or the most that a timer can wait for. */
export function timerMs(milliseconds: number): number {
  return Math.min(milliseconds, timerMaxMs);
}
