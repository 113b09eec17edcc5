import { assert } from "../../../base/assert.ts";
import { Pace, type Steps } from "../../../base/steps.ts";

/** The `facts` column of a gather statement, in its parts. */
export interface FactText {
  /** How many entities were reached. */
  readonly nodes: number;
  /** Lists of facts, each as JSON with a line for each fact. */
  readonly edges: string;
  readonly direct: string;
  readonly attributes: string;
}

/** Parsed at once, in characters: far less than a time slice. */
const pieceCharacters = 32_768;

/** Takes the `facts` column apart (its layout is that of `gatherBody`), without parsing the lists. */
export function factTextOf(facts: unknown): FactText {
  assert(typeof facts === "string", "facts are text");
  const [nodes, edges, direct, attributes] = facts.split("\n\n");
  assert(nodes !== undefined && edges !== undefined, "facts have parts");
  assert(direct !== undefined && attributes !== undefined, "facts have parts");
  return { nodes: Number(nodes), edges, direct, attributes };
}

/** Whether a list has more facts than `max`. */
export function isLongerThan(list: string, max: number): boolean {
  let count = list === "[]" ? 0 : 1;
  for (let end = list.indexOf("\n"); end >= 0; end = list.indexOf("\n", end + 1)) {
    if (count > max) return true;
    count += 1;
  }
  return count > max;
}

/**
 * Calls `take` with each fact of a list. Returns how many there are. A list may have many megabytes: it is
 * parsed in pieces that end with a line.
 */
export function* eachFact(list: string, take: (fact: readonly unknown[]) => void): Steps<number> {
  const pace = new Pace();
  let count = 0;
  for (let start = 0; start >= 0;) {
    const end = list.indexOf("\n", start + pieceCharacters);
    for (const fact of piece(list, start, end)) {
      if (pace.step()) yield;
      take(fact);
      count += 1;
    }
    start = end < 0 ? -1 : end + 1;
    if (start >= 0) yield;
  }
  return count;
}

/** The facts from `start`, which begins a line, until the line that ends before `end`; -1: until the last. */
function piece(list: string, start: number, end: number): readonly (readonly unknown[])[] {
  const open = start === 0 ? "" : "[";
  // The line ends with the comma before the next one.
  const text = end < 0 ? list.slice(start) : `${list.slice(start, end - 1)}]`;
  const facts: unknown = JSON.parse(open + text);
  assert(Array.isArray(facts) && facts.every(Array.isArray), "facts are lists");
  return facts;
}
