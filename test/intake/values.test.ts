import assert from "node:assert/strict";
import { test } from "node:test";

import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";

import { PermissionCheckRequestSchema } from "../../src/gen/base/v1/permission_pb.ts";
import { IntegerArrayValueSchema, StringArrayValueSchema } from "../../src/gen/base/v1/value_pb.ts";
import { countValues } from "../../src/grpc/count-values.ts";
import { countJsonValues } from "../../src/intake/values.ts";

const many = 1_000_000;
const limits = { max: many, depth: 256 };

/** By making them. */
function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) {
    return 1 + value.reduce<number>((sum, item) => sum + valuesIn(item), 0);
  }
  return Object.values(value).reduce<number>((sum, item) => sum + 1 + valuesIn(item), 1);
}

test("the values of any JSON are counted without being made", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const counted = countJsonValues(Buffer.from(JSON.stringify(value)), many);
      const values = valuesIn(value);
      // The brackets of a list or an object count as a value, too.
      assert.ok(counted <= 2 * values && counted >= values / 2, `${counted} of ${values}`);
    }),
    { seed: 1, numRuns: 2_000 },
  );
});

test("what stands in a text is no value", () => {
  assert.equal(countJsonValues(Buffer.from(String.raw`"[{,:\",,,"`), many), 1);
});

test("counting ends beyond the most that may be", () => {
  assert.equal(countJsonValues(Buffer.from("[".repeat(1_000)), 10), 11);
});

test("the values of a message are counted: fields, keys, elements, and what stands in an Any", () => {
  const data: JsonObject = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, index) => [`k${index}`, true]),
  );
  const count = (context: object): number =>
    countValues(
      PermissionCheckRequestSchema,
      toBinary(PermissionCheckRequestSchema, create(PermissionCheckRequestSchema, { context })),
      limits,
    );
  // Of each: an entry, its key, its value and what that is.
  assert.equal(count({ data }), 2 + 4 * 1_000);
  const list = { list: Array.from({ length: 500 }, () => [1, 2]) };
  assert.ok(count({ data: list }) > 3 * 500);
  const integers = create(IntegerArrayValueSchema, {
    data: Array.from({ length: 3_000 }, () => 300),
  });
  const texts = create(StringArrayValueSchema, { data: Array.from({ length: 3_000 }, () => "") });
  for (const any of [
    anyPack(IntegerArrayValueSchema, integers),
    anyPack(StringArrayValueSchema, texts),
  ]) {
    const counted = count({ attributes: [{ attribute: "a", value: any }] });
    assert.ok(counted > 3_000 && counted < 3_020, `${counted}`);
  }
});

test("bytes that are no message count something", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.ok(countValues(PermissionCheckRequestSchema, bytes, limits) >= 0);
    }),
    { seed: 1, numRuns: 2_000 },
  );
});
