import { nextSize, restAfter } from "../../pace.ts";

/** What a copy has done since it rested last. */
export interface CopyWork {
  readonly rows: number;
  readonly tookMs: number;
}

/** How long a copy rests after its work, so that it copies no more rows per second than the rate allows. */
export function restMs({ rows, tookMs }: CopyWork, rate: number): number {
  return Math.max(restAfter(tookMs), (rows / rate) * 1_000 - tookMs);
}

/**
 * 64 kB of a table with the usual block size: some six hundred tuples. What a page takes besides its rows, such as the
 * waits for a slow disk, would be most of a smaller one.
 */
export const blocksMin = 8;

/** 512 kB: some five thousand tuples. */
const blocksMax = 64;

/** How many blocks the next page has, after one with so many took so long. The first one has the fewest. */
export function nextBlocks(blocks: number, tookMs: number): number {
  return nextSize(blocks, tookMs, { min: blocksMin, max: blocksMax });
}
