import { assert, must, unreachable } from "../base/assert.ts";
import {
  type AttributeType,
  attributeTypes,
  type AttributeValue,
  type JsonValue,
} from "../base/tuple.ts";

/** The bare data as it is stored: numbers that JSON does not keep are strings. */
export function attributeJson({ data }: AttributeValue): JsonValue {
  return Array.isArray(data) ? data.map(scalarJson) : scalarJson(data);
}

/** What `attributeJson` was made from. `type` is one of the eight type words. */
export function attributeValueOf(type: string, json: unknown): AttributeValue {
  const known = must(
    attributeTypes.find((it) => it === type),
    `not an attribute type: ${type}`,
  );
  return valueOf(known, json);
}

/** Would both be stored as the same? */
export function sameValue(left: AttributeValue, right: AttributeValue): boolean {
  return (
    left.type === right.type &&
    JSON.stringify(attributeJson(left)) === JSON.stringify(attributeJson(right))
  );
}

function valueOf(type: AttributeType, json: unknown): AttributeValue {
  switch (type) {
    case "boolean":
      return { type, data: booleanOf(json) };
    case "boolean[]":
      return { type, data: listOf(json).map(booleanOf) };
    case "string":
      return { type, data: stringOf(json) };
    case "string[]":
      return { type, data: listOf(json).map(stringOf) };
    case "integer":
    case "double":
      return { type, data: numberOf(json) };
    case "integer[]":
    case "double[]":
      return { type, data: listOf(json).map(numberOf) };
    default:
      return unreachable(type);
  }
}

function scalarJson(data: AttributeValue["data"]): JsonValue {
  if (Object.is(data, -0)) return "-0";
  return typeof data === "number" && !Number.isFinite(data) ? String(data) : data;
}

function booleanOf(json: unknown): boolean {
  assert(typeof json === "boolean", "a stored boolean is something else");
  return json;
}

function stringOf(json: unknown): string {
  assert(typeof json === "string", "a stored string is something else");
  return json;
}

function numberOf(json: unknown): number {
  assert(typeof json === "number" || typeof json === "string", "a stored number is something else");
  return Number(json);
}

function listOf(json: unknown): readonly unknown[] {
  assert(Array.isArray(json), "a stored list is something else");
  return json;
}
