import fc from "fast-check";

import type { AttributeType, AttributeValue, JsonValue } from "../../src/base/tuple.ts";
import type { ConditionInput } from "../../src/condition/condition.ts";
import { durationText, timestampText, timeText } from "./time-texts.ts";

/** The parameters that every random rule may use: one of each type. */
export const randomParameters: ReadonlyMap<string, AttributeType> = new Map<string, AttributeType>([
  ["flag", "boolean"],
  ["flags", "boolean[]"],
  ["name", "string"],
  ["names", "string[]"],
  ["age", "integer"],
  ["ages", "integer[]"],
  ["rate", "double"],
  ["rates", "double[]"],
]);

const someStrings = [
  "",
  "a",
  "b",
  "ab",
  "é",
  "\u{1F600}",
  "\uFFFD",
  "a\u{1F600}",
  "1",
  "-7",
  "+12",
  "9223372036854775808",
  "1.5",
  "t",
  "a\nb",
  "FALSE",
  "true",
  "null",
  "%",
  "_",
  "\\",
  "'",
  '"',
  "{}",
  "A",
];
const someInts = [0, 1, -1, 2, 7, 2_147_483_647, -2_147_483_648];
const someDoubles = [
  0,
  1,
  -1,
  0.5,
  1.5,
  2,
  7,
  1e300,
  -1e300,
  5e-324,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  1.7976931348623157e308,
];

/** Texts of all kinds, those of numbers and of times among them. */
export const randomString: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: timeText },
  { weight: 4, arbitrary: fc.constantFrom(...someStrings) },
  fc.string({ unit: "grapheme", maxLength: 4 }).map((text) => text.replaceAll("\0", "")),
);
const int = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...someInts) },
  fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }),
);
/** A number that JSON can hold. */
export const randomNumber: fc.Arbitrary<number> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...someInts, ...someDoubles) },
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const double = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...someDoubles, Number.NaN, Infinity, -Infinity) },
  fc.double(),
);

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.boolean(),
  randomString,
  randomNumber,
  // Few, so that a rule compares equal ones, which may be spelled in two ways.
  { weight: 2, arbitrary: fc.constantFrom(2 ** 53, 0.1) },
  fc.constant(null),
);
const json: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("a", "b", "1"), scalar, { maxKeys: 2 }),
);

const data = fc.record(
  {
    a: json,
    b: json,
    flag: fc.oneof({ weight: 3, arbitrary: fc.boolean() }, json),
    text: fc.oneof({ weight: 3, arbitrary: randomString }, json),
    at: fc.oneof({ weight: 9, arbitrary: timestampText }, json),
    span: fc.oneof({ weight: 9, arbitrary: durationText }, json),
    number: fc.oneof({ weight: 3, arbitrary: randomNumber }, json),
    list: fc.oneof({ weight: 3, arbitrary: fc.array(scalar, { maxLength: 3 }) }, json),
    map: fc.oneof(
      { weight: 3, arbitrary: fc.record({ a: json, b: json }, { requiredKeys: [] }) },
      json,
    ),
  },
  // What is missing is a fault, and times have faults enough.
  { requiredKeys: ["at", "span"] },
);

/** Values of the parameters and a context that fit `randomParameters`. */
export const randomInput: fc.Arbitrary<ConditionInput> = fc
  .record({
    flag: fc.boolean(),
    flags: fc.array(fc.boolean(), { maxLength: 2 }),
    name: fc.oneof({ weight: 3, arbitrary: randomString }, timeText),
    names: fc.array(randomString, { maxLength: 3 }),
    age: int,
    ages: fc.array(int, { maxLength: 3 }),
    rate: double,
    rates: fc.array(double, { maxLength: 3 }),
    data,
  })
  .map((values) => ({
    parameters: new Map<string, AttributeValue>([
      ["flag", { type: "boolean", data: values.flag }],
      ["flags", { type: "boolean[]", data: values.flags }],
      ["name", { type: "string", data: values.name }],
      ["names", { type: "string[]", data: values.names }],
      ["age", { type: "integer", data: values.age }],
      ["ages", { type: "integer[]", data: values.ages }],
      ["rate", { type: "double", data: values.rate }],
      ["rates", { type: "double[]", data: values.rates }],
    ]),
    data: values.data,
  }));
