import { Pace, type Steps } from "./steps.ts";

/** Measured sizes of values on the heap of V8 with 64-bit pointers. */
const bytesOf = {
  object: 32,
  field: 8,
  /** Most arrays grow while they are filled, and keep room for a few more elements. */
  array: 72,
  collection: 200,
  entry: 32,
  string: 24,
} as const;

/**
 * Estimates the bytes that a value holds on the heap: it follows own fields, array elements and the
 * entries of maps and sets. Objects that are `isShared` count as nothing. `countsStrings` is off if
 * all strings belong to a shared object. It does not see what a closure holds.
 */
export function* heapBytes(
  root: unknown,
  options: { readonly isShared: (object: object) => boolean; readonly countsStrings: boolean },
): Steps<number> {
  const { isShared, countsStrings } = options;
  const seen = new Set<object>();
  const open: unknown[] = [root];
  const pace = new Pace();
  let bytes = 0;
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if (pace.step()) yield;
    if (typeof next === "string") {
      if (countsStrings) bytes += bytesOf.string + next.length;
      continue;
    }
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    if (isShared(next)) continue;
    if (next instanceof Uint8Array) {
      bytes += bytesOf.collection + next.length;
    } else if (Array.isArray(next)) {
      bytes += bytesOf.array + next.length * bytesOf.field;
      for (const element of next) open.push(element);
    } else if (next instanceof Map) {
      bytes += bytesOf.collection + next.size * bytesOf.entry;
      for (const [key, value] of next) open.push(key, value);
    } else if (next instanceof Set) {
      bytes += bytesOf.collection + next.size * bytesOf.entry;
      for (const value of next) open.push(value);
    } else {
      const values = Object.values(next);
      bytes += bytesOf.object + values.length * bytesOf.field;
      for (const value of values) open.push(value);
    }
  }
  return bytes;
}
