import fc from "fast-check";

import type { AttributeType, AttributeValue, JsonValue } from "../../src/base/tuple.ts";
import type { ConditionInput } from "../../src/condition/condition.ts";

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

const string = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...someStrings) },
  fc.string({ unit: "grapheme", maxLength: 4 }).map((text) => text.replaceAll("\0", "")),
);
const int = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...someInts) },
  fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }),
);
const jsonNumber = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...someInts, ...someDoubles) },
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const double = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...someDoubles, Number.NaN, Infinity, -Infinity) },
  fc.double(),
);

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.boolean(),
  string,
  jsonNumber,
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
    text: fc.oneof({ weight: 3, arbitrary: string }, json),
    number: fc.oneof({ weight: 3, arbitrary: jsonNumber }, json),
    list: fc.oneof({ weight: 3, arbitrary: fc.array(scalar, { maxLength: 3 }) }, json),
    map: fc.oneof(
      { weight: 3, arbitrary: fc.record({ a: json, b: json }, { requiredKeys: [] }) },
      json,
    ),
  },
  { requiredKeys: [] },
);

/** Values of the parameters and a context that fit `randomParameters`. */
export const randomInput: fc.Arbitrary<ConditionInput> = fc
  .record({
    flag: fc.boolean(),
    flags: fc.array(fc.boolean(), { maxLength: 2 }),
    name: string,
    names: fc.array(string, { maxLength: 3 }),
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

const template = (
  parts: TemplateStringsArray,
  ...holes: readonly fc.Arbitrary<string>[]
): fc.Arbitrary<string> =>
  fc
    .tuple(...holes)
    .map((filled) =>
      parts.reduce((text, part, index) => `${text}${part}${filled[index] ?? ""}`, ""),
    );

const arithmetic = fc.constantFrom("+", "-", "*", "/");
const ordering = fc.constantFrom("<", "<=", ">", ">=");
const equality = fc.constantFrom("==", "!=");
const comparison = fc.oneof(ordering, equality);

const intLiteral = fc
  .oneof(
    fc.constantFrom(0n, 1n, 2n, 7n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  )
  .map(String);
const smallIndex = fc.constantFrom("0", "1", "-1", "3", "9223372036854775807");
const doubleLiteral = jsonNumber.map((value) => {
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
});
const patternLiteral = fc
  .constantFrom(
    "a",
    "^a",
    "b$",
    "^$",
    "^[0-9+-]+$",
    ".",
    "^.$",
    "é",
    "[^a]",
    "(a|b)+",
    "\\d{2,}",
    "^\\W+$",
  )
  .map((pattern) => JSON.stringify(pattern));
const stringLiteral = string.map((value) => JSON.stringify(value));

/** A random rule that compiles against `randomParameters`: well-typed parts and dyn ones, mixed. */
export const randomText: fc.Arbitrary<string> = fc.letrec<
  Record<"bool" | "int" | "double" | "string" | "dyn", string>
>((tie) => {
  const [b, i, d, s, j] = [tie("bool"), tie("int"), tie("double"), tie("string"), tie("dyn")];
  const any = fc.oneof(b, i, d, s, j, fc.constant("null"));
  const list = (element: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    fc.array(element, { maxLength: 3 }).map((elements) => `[${elements.join(", ")}]`);
  return {
    bool: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      { weight: 2, arbitrary: fc.constantFrom("flag", "true", "false") },
      template`(${b} && ${b})`,
      template`(${b} || ${b})`,
      template`(${j} && ${b})`,
      template`(${b} || ${j})`,
      template`!${b}`,
      template`!${j}`,
      template`(${b} ? ${b} : ${b})`,
      template`(${i} ${comparison} ${i})`,
      template`(${d} ${comparison} ${d})`,
      template`(${s} ${comparison} ${s})`,
      template`(${b} ${comparison} ${b})`,
      { weight: 3, arbitrary: template`(${j} ${comparison} ${fc.oneof(i, d, s)})` },
      template`(${fc.oneof(i, d, s)} ${comparison} ${j})`,
      { weight: 2, arbitrary: template`(${j} ${comparison} ${j})` },
      template`(${j} ${equality} ${fc.constantFrom("null", "true", "false")})`,
      template`(${j} in ${list(any)})`,
      template`(${i} in ${list(i)})`,
      template`(${s} in ${list(s)})`,
      template`(${s} in names)`,
      template`(${i} in ages)`,
      template`(${d} in rates)`,
      template`(${b} in flags)`,
      template`(${j} in ${fc.constantFrom("names", "ages", "rates", "flags")})`,
      { weight: 3, arbitrary: template`(${any} in ${j})` },
      template`has(${fc.constantFrom("context.data.a", "context.data.map", "context.data.a.b", "context.data.map.a.b")})`,
      template`${s}.${fc.constantFrom("contains", "startsWith", "endsWith")}(${s})`,
      template`${j}.${fc.constantFrom("contains", "startsWith", "endsWith")}(${fc.oneof(s, j)})`,
      template`flags[${smallIndex}]`,
      template`bool(${fc.oneof(s, j, b)})`,
      template`${fc.oneof(s, j)}.matches(${patternLiteral})`,
    ),
    int: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      { weight: 2, arbitrary: fc.oneof(fc.constant("age"), intLiteral) },
      template`(${i} ${fc.oneof(arithmetic, fc.constant("%"))} ${i})`,
      template`-(${i})`,
      template`(${b} ? ${i} : ${i})`,
      template`size(${fc.oneof(s, j, fc.constantFrom("names", "ages", "context.data"))})`,
      template`ages[${smallIndex}]`,
      template`ages[${i}]`,
      template`int(${fc.oneof(i, d, s, j)})`,
    ),
    double: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      { weight: 2, arbitrary: fc.oneof(fc.constant("rate"), doubleLiteral) },
      template`(${d} ${arithmetic} ${d})`,
      template`(${j} ${arithmetic} ${d})`,
      template`-(${d})`,
      template`(${b} ? ${d} : ${d})`,
      template`rates[${smallIndex}]`,
      template`double(${fc.oneof(i, d)})`,
    ),
    string: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      { weight: 3, arbitrary: fc.oneof(fc.constant("name"), stringLiteral) },
      template`(${s} + ${s})`,
      template`(${j} + ${s})`,
      template`(${b} ? ${s} : ${s})`,
      template`names[${smallIndex}]`,
      template`string(${fc.oneof(i, s, b)})`,
    ),
    dyn: fc.oneof(
      { maxDepth: 4, depthIdentifier: "rule" },
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          "context.data.a",
          "context.data.b",
          "context.data.flag",
          "context.data.text",
          "context.data.number",
          "context.data.list",
          "context.data.map",
          "context.data.map.a",
          "context.data['b']",
        ),
      },
      template`context.data.list[${smallIndex}]`,
      template`context.data.a[${i}]`,
      template`context.data.map[${s}]`,
      template`(${b} ? ${j} : ${j})`,
      template`(${j} ${fc.constantFrom("-", "*", "/")} ${j})`,
      template`dyn(${fc.oneof(j, b, s)})`,
    ),
  };
}).bool;
