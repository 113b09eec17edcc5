import { parseTextNotation } from "../../src/base/text-notation.ts";
import { encodeAttribute } from "../../src/http/shapes/data.ts";

/** Facts in text notation as a body holds them: of a write, and in a context. */
export function restFacts(lines: readonly string[]): {
  readonly tuples: readonly object[];
  readonly attributes: readonly object[];
} {
  const elements = lines.map((line) => parseTextNotation(line));
  return {
    tuples: elements.flatMap((one) => (one.kind === "tuple" ? [one.tuple] : [])),
    attributes: elements.flatMap((one) =>
      one.kind === "attribute" ? [encodeAttribute(one.attribute)] : [],
    ),
  };
}
