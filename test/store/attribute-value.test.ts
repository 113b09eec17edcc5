import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { AttributeValue } from "../../src/base/tuple.ts";
import { attributeJson, attributeValueOf, sameValue } from "../../src/store/attribute-value.ts";

const integer = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const double = fc.double();

function of<T>(
  data: fc.Arbitrary<T>,
  make: (data: T) => AttributeValue,
): fc.Arbitrary<AttributeValue> {
  return data.map(make);
}

const value: fc.Arbitrary<AttributeValue> = fc.oneof(
  of(fc.boolean(), (data) => ({ type: "boolean", data })),
  of(fc.array(fc.boolean()), (data) => ({ type: "boolean[]", data })),
  of(fc.string(), (data) => ({ type: "string", data })),
  of(fc.array(fc.string()), (data) => ({ type: "string[]", data })),
  of(integer, (data) => ({ type: "integer", data })),
  of(fc.array(integer), (data) => ({ type: "integer[]", data })),
  of(double, (data) => ({ type: "double", data })),
  of(fc.array(double), (data) => ({ type: "double[]", data })),
);

test("a value is the same after it was stored as JSON", () => {
  fc.assert(
    fc.property(value, (given) => {
      const stored: unknown = JSON.parse(JSON.stringify(attributeJson(given)));
      const read = attributeValueOf(given.type, stored);
      assert.deepEqual(read, given);
      assert.ok(sameValue(read, given));
    }),
  );
});

test("values of different types are different, also when their data is the same", () => {
  assert.ok(!sameValue({ type: "integer", data: 1 }, { type: "double", data: 1 }));
  assert.ok(!sameValue({ type: "string[]", data: [] }, { type: "double[]", data: [] }));
});

test("NaN is the same as NaN, and text that reads like it is not", () => {
  const nan: AttributeValue = { type: "double", data: Number.NaN };
  assert.ok(sameValue(nan, { type: "double", data: Number.NaN }));
  assert.ok(!sameValue(nan, { type: "string", data: "NaN" }));
  assert.ok(!sameValue(nan, { type: "double", data: Number.POSITIVE_INFINITY }));
});
