import type { Edit, Range } from "../mutant.ts";
import type { Node } from "../syntax.ts";

/** What an operator knows of a node besides itself. */
export interface Surroundings {
  readonly source: string;
  /** From the parent up. */
  readonly ancestors: readonly Node[];
  /** For a string of a union of strings: the others. */
  readonly siblings: ReadonlyMap<string, readonly string[]>;
}

/** An edit that an operator proposes; the switch stands around `at`, or around the node. */
export interface Proposal extends Edit {
  readonly at?: Node;
  readonly kind?: "statement";
}

/** Proposes the faults of one kind that a node can have. */
export type Operator = (node: Node, surroundings: Surroundings) => readonly Proposal[];

/** An edit that puts a text in the place of a range. */
export function replace(operator: string, { start, end }: Range, text: string): Edit {
  return { operator, start, end, text };
}
