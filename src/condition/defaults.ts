import type { AttributeType, AttributeValue } from "../base/tuple.ts";

/** The value of an attribute without a stored value: false, "", 0, 0.0 or an empty list. */
export function defaultValue(type: AttributeType): AttributeValue {
  return defaults[type];
}

const defaults = {
  boolean: { type: "boolean", data: false },
  "boolean[]": { type: "boolean[]", data: [] },
  string: { type: "string", data: "" },
  "string[]": { type: "string[]", data: [] },
  integer: { type: "integer", data: 0 },
  "integer[]": { type: "integer[]", data: [] },
  double: { type: "double", data: 0 },
  "double[]": { type: "double[]", data: [] },
} as const satisfies Record<AttributeType, AttributeValue>;
