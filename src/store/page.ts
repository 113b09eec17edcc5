import type { Attribute, Tuple } from "../base/tuple.ts";
import { attributeJson } from "./attribute-value.ts";

/** A page in ascending order of its keys; `next` is the key to go on after, when there is more. */
export interface Page<T, K> {
  readonly items: readonly T[];
  readonly next: K | undefined;
}

/** How a page is bounded by its bytes. */
export interface PageSizes<T> {
  readonly bytesOf: (item: T) => number;
  readonly bytesMax: number;
}

/** Tuples are small: a page is cut only if it is asked for thousands and their ids are very long. */
export const tupleSizes: PageSizes<Tuple> = {
  // Names and ids are ASCII. The rest is what a message has besides them.
  bytesOf: ({ entity, relation, subject }) =>
    32 +
    entity.type.length +
    entity.id.length +
    relation.length +
    subject.type.length +
    subject.id.length +
    subject.relation.length,
  bytesMax: 3 * 1024 * 1024,
};

/**
 * Names are small beside values. A single attribute may have more: as much as a request, which is as much as a gRPC
 * client takes in a message unless it is told otherwise. So nothing stands beside such an attribute.
 */
export const attributeSizes: PageSizes<Attribute> = {
  bytesOf: ({ value }) => Buffer.byteLength(JSON.stringify(attributeJson(value))),
  bytesMax: 1024 * 1024,
};

/** How many of the items are on a page for their size: at least one, if there is any. */
export function countWithin<T>(items: readonly T[], { bytesOf, bytesMax }: PageSizes<T>): number {
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    bytes += bytesOf(item);
    if (bytes > bytesMax && index > 0) return index;
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
