/** The longest delay of a timer in milliseconds. With a longer one, a timer fires at once. */
export const timerMaxMs = 2 ** 31 - 1;

/** The delay, limited to the longest that a timer can wait. */
export function timerMs(milliseconds: number): number {
  return Math.min(milliseconds, timerMaxMs);
}
