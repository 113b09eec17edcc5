import type { Page } from "./store.ts";

/** The page of `limit` items, of `found` ones: one more than fits says that there is another page. */
export function pageOf<T, K>(
  found: readonly T[],
  limit: number,
  keyOf: (item: T) => K,
): Page<T, K> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { items, next: hasMore ? keyOf(last) : undefined };
}
