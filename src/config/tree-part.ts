import type { Kind, ValueFault } from "./kind.ts";
import type { Tree } from "./tree.ts";

/**
 * Reads a part of a value, which must be there. Adds what is wrong with it to the faults. A refused part is
 * not shown: it may be a secret in the wrong position.
 */
export function readPart<T>(
  faults: ValueFault[],
  tree: Tree | undefined,
  place: string,
  kind: Kind<T>,
): T | undefined {
  const value = typeof tree === "string" ? kind.read(tree) : undefined;
  if (value !== undefined) return value;
  const problem = tree === undefined ? "is missing" : "the value is not allowed";
  const hint = typeof tree === "string" ? (kind.hint?.(tree) ?? "") : "";
  faults.push({ place, problem: `${problem}, expected ${kind.expected}${hint}` });
  return undefined;
}

/** Whether a value is a list. */
export function isList(tree: Tree | undefined): tree is readonly Tree[] {
  return Array.isArray(tree);
}
