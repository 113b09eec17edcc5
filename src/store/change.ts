import type { Attribute, SnapToken, Tuple } from "../base/tuple.ts";
import { attributeJson } from "./attribute-value.ts";

/** A tuple or an attribute that came or went; a value that is overwritten goes, then the new comes. */
export type Change = { readonly operation: "create" | "delete" } & (
  | { readonly kind: "tuple"; readonly tuple: Tuple }
  | { readonly kind: "attribute"; readonly attribute: Attribute }
);

/** What one transaction changed, or a part of that. */
export interface ChangeMessage {
  /** The state from which the stream goes on after this: for all parts but the last the one before. */
  readonly snapToken: SnapToken;
  readonly changes: readonly Change[];
}

/** Most changes of one message, and most bytes: a single change may have more. */
export const messageChangesMax = 1_000;
export const messageBytesMax = 1024 * 1024;

/** Where messages end, by where they begin: computed once for all streams that have the changes. */
const known = new WeakMap<readonly Change[], Map<number, number>>();

/**
 * The end of the message that begins at a place among the changes of a transaction: it has as many as fit.
 * Only these are looked at, since all may be very many.
 */
export function messageEnd(changes: readonly Change[], start: number): number {
  const ends = known.get(changes) ?? new Map<number, number>();
  known.set(changes, ends);
  const end = ends.get(start) ?? findEnd(changes, start);
  ends.set(start, end);
  return end;
}

function findEnd(changes: readonly Change[], start: number): number {
  let bytes = 0;
  for (let place = start; place < changes.length; place++) {
    const change = changes[place];
    if (change === undefined || place - start === messageChangesMax) return place;
    bytes += sizeOf(change);
    if (bytes > messageBytesMax && place > start) return place;
  }
  return changes.length;
}

function sizeOf(change: Change): number {
  return change.kind === "tuple"
    ? Buffer.byteLength(JSON.stringify(change.tuple))
    : Buffer.byteLength(JSON.stringify(attributeJson(change.attribute.value)));
}
