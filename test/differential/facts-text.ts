import assert from "node:assert/strict";

import { parseTextNotation } from "../../src/base/text-notation.ts";
import type { Attribute, Tuple } from "../../src/base/tuple.ts";

/** The tuple of a line in text notation. */
export function tupleOf(text: string): Tuple {
  const element = parseTextNotation(text);
  assert(element.kind === "tuple", `\`${text}\` is not a tuple`);
  return element.tuple;
}

/** Tuples and attributes of lines in text notation. */
export function factsOf(lines: readonly string[]): {
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
} {
  const elements = lines.map((line) => parseTextNotation(line));
  return {
    tuples: elements.flatMap((one) => (one.kind === "tuple" ? [one.tuple] : [])),
    attributes: elements.flatMap((one) => (one.kind === "attribute" ? [one.attribute] : [])),
  };
}
