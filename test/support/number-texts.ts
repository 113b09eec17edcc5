import fc from "fast-check";

import type { JsonValue } from "../../src/base/tuple.ts";
import { randomNumber, randomString } from "./condition-values.ts";

/*
 * JSON as clients other than JavaScript write it: JavaScript prints the shortest text of a double, but a number may
 * have more digits than a double keeps, zeros at its end, or an exponent.
 */

/** Texts of a number. Of those that round, only the ones that are read as the same number are taken. */
const spellings: readonly ((number: number) => string)[] = [
  String,
  (number) => number.toExponential(20),
  (number) => number.toExponential(20).replace("e", "00000000000001E"),
  (number) => (Number.isInteger(number) ? `${BigInt(number)}.000` : number.toExponential(17)),
  (number) => (Number.isInteger(number) ? String(BigInt(number) + 1n) : `${number}`),
  (number) => number.toExponential().replace("e+", "e+00"),
];

/** The JSON text of a value in which each number is spelled in another way than the one before. */
export function respelledJson(value: JsonValue): string {
  const places = spellings.keys().toArray();
  let turn = JSON.stringify(value).length;
  const spelled = (number: number): string => {
    turn += 1;
    const text = places
      .map((place) => spellings[(turn + place) % spellings.length]?.(number) ?? "")
      .find((each) => Number(each) === number);
    return text ?? String(number);
  };
  const written = (one: JsonValue): string => {
    if (typeof one === "number") return spelled(one);
    if (typeof one !== "object" || one === null) return JSON.stringify(one);
    if (Array.isArray(one)) return `[${one.map((item: JsonValue) => written(item)).join(", ")}]`;
    const entries = Object.entries(one).map(
      ([key, item]) => `${JSON.stringify(key)}: ${written(item)}`,
    );
    return `{${entries.join(", ")}}`;
  };
  return written(value);
}

const digits = /^-?(0|[1-9][0-9]{0,24})([.][0-9]{1,24})?([eE][-+]?[0-9]{1,3})?$/;
/** Half of the least double, and numbers beside it. */
const leastHalf = [
  "2.4703282292062327e-324",
  "2.4703282292062328e-324",
  "2.5e-324",
  "1e-400",
  "-1e-400",
];

/** The text of any number of JSON that no reader of doubles takes for an infinite one. */
export const numberText: fc.Arbitrary<string> = fc
  .oneof(
    randomNumber.map((number) => respelledJson([number]).slice(1, -1)),
    fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 8n }).map(String),
    fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(String),
    fc.constantFrom(...leastHalf, "-0", "-0.0e0", "0.10000000000000001"),
    fc.stringMatching(digits),
  )
  .filter((text) => Number.isFinite(Number(text)));

const scalarText = fc.oneof(
  { weight: 3, arbitrary: numberText },
  {
    weight: 1,
    arbitrary: fc
      .oneof(fc.boolean(), fc.constant(null), randomString)
      .map((value) => JSON.stringify(value)),
  },
  // A text in which a number stands is none.
  {
    weight: 1,
    arbitrary: fc.tuple(randomString, numberText).map((parts) => JSON.stringify(parts.join('"'))),
  },
);

/** The text of an object whose values have numbers of all spellings, also in lists and objects. */
export const objectText: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalarText,
      fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(" ,")}]`),
      tie("object"),
    ),
    object: fc
      .array(
        fc.tuple(fc.constantFrom("a", "b", "1e-400", 'c"\\', "0.10000000000000001"), tie("value")),
        { maxLength: 3 },
      )
      .map(
        (entries) =>
          `{ ${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",\n")}}`,
      ),
  }),
).object;
