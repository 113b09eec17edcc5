import { seed } from "./run-length.ts";

/** Draws that follow from the seed of the run and a number. */
export interface Dice {
  /** A whole number from 0 up to before `count`. */
  readonly upTo: (count: number) => number;
  /** Whether something happens that happens in this share of all cases. */
  readonly happens: (share: number) => boolean;
}

export function dice(number: number): Dice {
  const next = random(seed + number);
  return {
    upTo: (count) => Math.floor(next() * count),
    happens: (share) => next() < share,
  };
}

/** Numbers from 0 up to 1 that follow from a seed (mulberry32). */
function random(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
