/** How work on a database beside requests leaves room for them. */

/**
 * After a piece of work it rests this many times as long. Else it would take a processor of the server and its disk for
 * itself, and requests would wait for them.
 */
const restsOfWork = 2;

/** A piece that had to wait for a lock says nothing of the load, and the next one should not come hours later. */
const restMaxMs = 5_000;

/** How long to rest after a piece of work. */
export function restAfter(tookMs: number): number {
  return Math.min(tookMs * restsOfWork, restMaxMs);
}

/** A piece of work takes about as long. A request may have to wait for it. */
const pieceMs = 25;

/** How large the next piece of work is, after one of this size took so long. The first one has the least size. */
export function nextSize(
  size: number,
  tookMs: number,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  if (tookMs > pieceMs) return Math.max(Math.floor(size / 2), min);
  return tookMs * 2 > pieceMs ? size : Math.min(size * 2, max);
}
