import { suggest } from "../base/suggest.ts";
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

/** What an entry of a list is made of. */
export interface EntryParts {
  readonly all: readonly string[];
  /** Two parts that a message names as an example. */
  readonly such: string;
}

/**
 * Reads an entry of a list, a map of the given parts. Adds what is wrong with it to the faults: that it
 * is no map, which answers undefined, or a part that does not exist.
 */
export function readEntry(
  faults: ValueFault[],
  tree: Tree,
  place: string,
  { all, such }: EntryParts,
): ReadonlyMap<string, Tree> | undefined {
  if (typeof tree !== "object" || tree === null || isList(tree)) {
    faults.push({ place, problem: `is not a map, expected one with ${such}` });
    return undefined;
  }
  const given = new Map(Object.entries(tree));
  for (const name of given.keys()) {
    if (all.includes(name)) continue;
    const problem = `is none of ${all.join(", ")}${suggest(name, all)}`;
    faults.push({ place: `${place}.${name}`, problem });
  }
  return given;
}

/** Whether a value is a list. */
export function isList(tree: Tree | undefined): tree is readonly Tree[] {
  return Array.isArray(tree);
}
