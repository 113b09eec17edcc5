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

type ChangeParts = readonly (readonly Change[])[];

/** The parts of a transaction are computed once for all streams that have its changes. */
const known = new WeakMap<readonly Change[], ChangeParts>();

/** The changes of a transaction in parts that fit a message each. */
export function partsOf(changes: readonly Change[]): ChangeParts {
  const parts = known.get(changes) ?? divide(changes);
  known.set(changes, parts);
  return parts;
}

function divide(changes: readonly Change[]): ChangeParts {
  const parts: Change[][] = [];
  let bytes = 0;
  for (const change of changes) {
    const size = sizeOf(change);
    const part = parts.at(-1);
    if (part === undefined || part.length === messageChangesMax || bytes + size > messageBytesMax) {
      parts.push([change]);
      bytes = size;
    } else {
      part.push(change);
      bytes += size;
    }
  }
  return parts;
}

function sizeOf(change: Change): number {
  return change.kind === "tuple"
    ? Buffer.byteLength(JSON.stringify(change.tuple))
    : Buffer.byteLength(JSON.stringify(attributeJson(change.attribute.value)));
}
