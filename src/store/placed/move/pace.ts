/** What a copy has done since it rested last. */
export interface CopyWork {
  readonly rows: number;
  readonly tookMs: number;
}

/**
 * After its work a copy rests this many times as long. Else it would take a processor of each side and their disks for
 * itself, and the tenants beside it would wait for them.
 */
const restsOfWork = 2;

/** A page that had to wait for a lock says nothing of the load, and the next one should not come hours later. */
const restMaxMs = 5_000;

/** How long a copy rests after its work, so that it copies no more rows per second than the rate allows. */
export function restMs({ rows, tookMs }: CopyWork, rate: number): number {
  const share = Math.min(tookMs * restsOfWork, restMaxMs);
  return Math.max(share, (rows / rate) * 1_000 - tookMs);
}

/** Work without a rest takes about as long. A request of another tenant may have to wait for it. */
const workMs = 25;

/**
 * 64 kB of a table with the usual block size: some six hundred tuples. What a page takes besides its rows, such as the
 * waits for a slow disk, would be most of a smaller one.
 */
export const blocksMin = 8;

/** 512 kB: some five thousand tuples. */
const blocksMax = 64;

/** How many blocks the next page has, after one with so many took so long. The first one has the fewest. */
export function nextBlocks(blocks: number, tookMs: number): number {
  if (tookMs > workMs) return Math.max(Math.floor(blocks / 2), blocksMin);
  return tookMs * 2 > workMs ? blocks : Math.min(blocks * 2, blocksMax);
}
