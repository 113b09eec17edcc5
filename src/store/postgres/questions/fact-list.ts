import { assert, must } from "../../../base/assert.ts";
import { Pace, type Steps } from "../../../base/steps.ts";
import type { Row } from "../connect/row.ts";

/** The pieces of the `facts` of a gather statement by what they hold. */
export interface FactTexts {
  /** How many entities were reached. */
  readonly nodes: number;
  /** How many tuples of hops or of listed relations there are. */
  readonly tuples: number;
  /** How many bytes attributes have. */
  readonly bytes: number;
  /** The lists of names that the codes of tuples have, as JSON. */
  readonly names: string;
  /** Lists of tuples, each as JSON. */
  readonly edges: readonly string[];
  readonly direct: readonly string[];
  /** Lists of attributes, each as JSON with a line for each. */
  readonly attributes: readonly string[];
}

/** Parsed at once, in characters: far less than a time slice. */
const partCharacters = 32_768;

/** The facts of the pieces (`gatherBody` says what is in them), without parsing the lists. */
export function factTextsOf(pieces: unknown): FactTexts {
  assert(Array.isArray(pieces), "facts have pieces");
  const texts: readonly unknown[] = pieces;
  const of = (letter: string): readonly string[] =>
    texts.flatMap((text) => {
      assert(typeof text === "string", "facts are text");
      return text.startsWith(letter) ? [text.slice(1)] : [];
    });
  const [first] = of("n");
  const [nodes, tuples, bytes, names] = must(first, "facts are counted").split(" ");
  assert(names !== undefined, "three are counted, then names follow");
  return {
    nodes: Number(nodes),
    tuples: Number(tuples),
    bytes: Number(bytes),
    names,
    edges: of("e"),
    direct: of("d"),
    attributes: of("a"),
  };
}

/** How many characters the pieces have. */
export function factCharacters(pieces: unknown): number {
  assert(Array.isArray(pieces), "facts have pieces");
  const texts: readonly unknown[] = pieces;
  return texts.reduce<number>((sum, text) => sum + (typeof text === "string" ? text.length : 0), 0);
}

/**
 * The rows of a statement with one for each item: the pieces of its facts, which come in a row each, are put
 * together.
 */
export function withAllFacts(rows: readonly Row[]): readonly Row[] {
  const whole: Row[] = [];
  const pieces = new Map<unknown, unknown[]>();
  for (const row of rows) {
    const { item, facts } = row;
    const known = pieces.get(item);
    if (facts === null) whole.push(row);
    else if (known !== undefined) known.push(facts);
    else {
      const first = [facts];
      pieces.set(item, first);
      whole.push({ ...row, facts: first });
    }
  }
  return whole;
}

/** Calls `take` with each fact of the lists. */
export function* eachFact(
  lists: readonly string[],
  take: (fact: readonly unknown[]) => void,
): Steps<void> {
  for (const [at, list] of lists.entries()) {
    if (at > 0) yield;
    yield* eachOfList(list, take);
  }
}

/** A list may have hundreds of kilobytes: it is parsed in parts that end with a line. */
function* eachOfList(list: string, take: (fact: readonly unknown[]) => void): Steps<void> {
  const pace = new Pace();
  for (let start = 0; start >= 0;) {
    const end = list.indexOf("\n", start + partCharacters);
    for (const fact of part(list, start, end)) {
      if (pace.step()) yield;
      take(fact);
    }
    start = end < 0 ? -1 : end + 1;
    if (start >= 0) yield;
  }
}

/** The facts from `start`, which begins a line, until the line that ends before `end`; -1: until the last. */
function part(list: string, start: number, end: number): readonly (readonly unknown[])[] {
  const open = start === 0 ? "" : "[";
  // The line ends with the comma before the next one.
  const text = end < 0 ? list.slice(start) : `${list.slice(start, end - 1)}]`;
  const facts: unknown = JSON.parse(open + text);
  assert(Array.isArray(facts) && facts.every(Array.isArray), "facts are lists");
  return facts;
}
