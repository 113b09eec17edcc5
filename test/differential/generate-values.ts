import fc from "fast-check";

import { unreachable } from "../../src/base/assert.ts";
import type { AttributeType, AttributeValue, Context, JsonValue } from "../../src/base/tuple.ts";
import { chosen } from "./pick.ts";

const jsonValue: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue[]>(
  0,
  1,
  2,
  2.5,
  -3,
  "paris",
  "a",
  "",
  true,
  false,
  null,
  [1, "a"],
  { a: 1 },
);

/** Mostly what the rules want to see, sometimes missing or of another type. */
export const contextData: fc.Arbitrary<Context["data"]> = fc.record(
  {
    limit: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(0, 1, 2, 2.5) }, jsonValue),
    city: fc.oneof({ weight: 3, arbitrary: fc.constantFrom("paris", "rome") }, jsonValue),
    prefix: fc.oneof({ weight: 3, arbitrary: fc.constantFrom("p", "") }, jsonValue),
    tag: fc.oneof({ weight: 3, arbitrary: fc.constantFrom("a", "b") }, jsonValue),
    flag: fc.oneof({ weight: 3, arbitrary: fc.boolean() }, jsonValue),
    now: fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom("1970-01-01T00:00:01Z", "1970-01-01T01:00:02.000000001+01:00"),
      },
      jsonValue,
    ),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** A value of the type; the numbers are those that the rules draw their lines at. */
export function valueOf(type: AttributeType, index: number): AttributeValue {
  switch (type) {
    case "boolean":
      return { type, data: index % 3 > 0 };
    case "boolean[]":
      return { type, data: chosen([[], [true], [false, true]], index) };
    case "string":
      return { type, data: chosen(["paris", "rome", "", "p'\"\\é"], index) };
    case "string[]":
      return { type, data: chosen([["a"], [], ["b", "a"], ["all", ""]], index) };
    case "integer":
      return { type, data: chosen([2, 0, 1, 3, -1, 2_147_483_647], index) };
    case "integer[]":
      return { type, data: chosen([[1, 2], [], [0], [3, 1]], index) };
    case "double":
      return { type, data: chosen([0.5, 1, 2.5, -0.25, 1e300], index) };
    case "double[]":
      return { type, data: chosen([[0.5, 1.5], [], [2, 1]], index) };
    default:
      return unreachable(type);
  }
}
