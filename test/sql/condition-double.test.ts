import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";
import postgres from "postgres";

import type { AttributeType, AttributeValue } from "../../src/base/tuple.ts";
import { compileCondition } from "../../src/condition/compile.ts";
import { evaluateRows } from "../support/condition-database.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

/*
 * Postgres raises an error for a double that overflows or underflows, CEL does not. Many pairs of
 * doubles, most of them far out, go through each operator in one statement; JavaScript, whose
 * numbers are IEEE 754, says what the result must be.
 */

let testDatabase: TestDatabase;
let database: postgres.Sql;

before(async () => {
  testDatabase = await createTestDatabase();
  database = postgres(testDatabase.url, { max: 1, onnotice: () => {} });
});

after(async () => {
  await database.end();
  await testDatabase.drop();
});

const edges = [
  0,
  5e-324,
  1e-323,
  2 ** -1022,
  2 ** -1023,
  Number.MAX_VALUE,
  Number.MAX_VALUE / 2,
  Number.POSITIVE_INFINITY,
  Number.NaN,
  1,
  0.5,
  1.5,
  1.9999999999999998,
  2,
  3,
  ...[
    -1000, -600, -538, -537, -512, -500, -476, -475, -424, -176, -50, 50, 176, 424, 475, 500, 512,
    537, 600, 960, 969, 970, 971, 1000, 1023,
  ].flatMap((exponent) => [
    2 ** exponent,
    2 ** exponent * (1 + 2 ** -52),
    2 ** exponent * (1 - 2 ** -53),
  ]),
];

const double = fc.oneof(
  fc.constantFrom(...edges.flatMap((edge) => [edge, -edge])),
  fc.double(),
  fc
    .tuple(fc.double({ min: 1, max: 2 }), fc.integer({ min: -1074, max: 1023 }))
    .map(([digits, exponent]) => digits * 2 ** exponent),
);

/** The least exponents of results that are infinite or zero, and those beside them. */
const edgeOfResults = [-1076, -1075, -1074, -1073, 1022, 1023, 1024, 1025];

/** Pairs of powers of two whose product or quotient lies where doubles end. */
const atTheEdge = fc
  .tuple(
    fc.integer({ min: -1074, max: 1023 }),
    fc.constantFrom(...edgeOfResults),
    fc.constantFrom(-1, 1),
  )
  .map(([exponent, result, sign]): [number, number] => [
    2 ** exponent,
    2 ** (sign * (exponent - result)),
  ]);

/** Pairs of which the product is next to a power of two, and not it. */
const nextToPower = fc
  .tuple(
    fc.integer({ min: 1, max: 2 ** 26 }),
    fc.constantFrom(-1076, -1075, -1074, 1023, 1024),
    fc.integer({ min: -537, max: 500 }),
    fc.constantFrom(0, 1),
  )
  .map(([digits, result, exponent, more]): [number, number] => [
    (1 + digits * 2 ** -52) * 2 ** exponent,
    (1 - (2 * digits - more) * 2 ** -53) * 2 ** (result - exponent),
  ]);

const anyPair = fc.oneof(
  { arbitrary: fc.tuple(double, double), weight: 3 },
  { arbitrary: atTheEdge, weight: 1 },
  { arbitrary: nextToPower, weight: 1 },
);

const operations = {
  "+": (a: number, b: number) => a + b,
  "-": (a: number, b: number) => a - b,
  "*": (a: number, b: number) => a * b,
  // A zero divisor has no sign here.
  "/": (a: number, b: number) => a / (b === 0 ? 0 : b),
} as const;

for (const [operator, operation] of Object.entries(operations)) {
  test(`a ${operator} b of doubles is what IEEE 754 says, and never an error`, async () => {
    const types = new Map<string, AttributeType>([
      ["a", "double"],
      ["b", "double"],
      ["c", "double"],
    ]);
    // NaN is unlike itself, so a NaN is told by that.
    const text = `c == c ? a ${operator} b == c : a ${operator} b != a ${operator} b`;
    const compiled = compileCondition(text, types);
    assert.ok(compiled.ok);
    const seed = 20_261_121;
    const pairs = fc.sample(anyPair, { seed, numRuns: 8_000 });
    const inputs = pairs.map(([a, b]) => ({
      parameters: new Map<string, AttributeValue>([
        ["a", { type: "double", data: a }],
        ["b", { type: "double", data: b }],
        ["c", { type: "double", data: operation(a, b) }],
      ]),
      data: {},
    }));
    const results = await evaluateRows(database, compiled.condition, inputs);
    const wrong = pairs.filter((_, index) => results?.[index] !== true);
    assert.deepEqual(wrong, [], `seed ${seed}`);
  });
}
