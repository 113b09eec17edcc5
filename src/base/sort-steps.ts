import { must } from "./assert.ts";
import { Pace, type Steps } from "./steps.ts";

/** So many short texts are sorted within a millisecond. */
const sortedAtOnce = 1_000;

/** A sorted copy, made in steps: sorting a long list at once would hold the event loop too long. Stable. */
export function* sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<readonly T[]> {
  let runs: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += sortedAtOnce) {
    runs.push(items.slice(start, start + sortedAtOnce).sort(compare));
    if (start > 0) yield;
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let index = 0; index < runs.length; index += 2) {
      const left = must(runs[index], "the index is within the runs");
      merged.push(yield* mergeInSteps(left, runs[index + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Two sorted lists as one, with the items of the left one first where they are equal. */
export function* mergeInSteps<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<readonly T[]> {
  const pace = new Pace();
  const merged: T[] = [];
  let next = 0;
  for (const item of left) {
    if (pace.step()) yield;
    for (let other = right[next]; next < right.length; other = right[next]) {
      if (pace.step()) yield;
      if (other === undefined || compare(other, item) >= 0) break;
      merged.push(other);
      next += 1;
    }
    merged.push(item);
  }
  for (const item of right.slice(next)) merged.push(item);
  return merged;
}

/** The order of code units, which for ASCII texts is that of their bytes. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
