/** A page in ascending order of its keys; `next` is the key to go on after, when there is more. */
export interface Page<T, K> {
  readonly items: readonly T[];
  readonly next: K | undefined;
}

/**
 * Most bytes of a page. A single item may have more: as many as a request, which is as much as a gRPC client takes
 * in a message unless it is told otherwise. So nothing stands beside such an item.
 */
export const pageBytesMax = 1024 * 1024;

/** How many of the items are on a page for their size: at least one, if there is any. */
export function countWithin<T>(items: readonly T[], bytesOf: (item: T) => number): number {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += bytesOf(item);
    if (bytes > pageBytesMax && index > 0) return index;
  }
  return items.length;
}

/** The page of `limit` items, of `found` ones: one more than fits says that there is another page. */
export function pageOf<T, K>(
  found: readonly T[],
  limit: number,
  keyOfItem: (item: T) => K,
): Page<T, K> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { items, next: hasMore ? keyOfItem(last) : undefined };
}
