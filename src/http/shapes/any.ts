import { Type } from "typebox";

import { quote } from "../../base/quote.ts";
import {
  type AttributeType,
  attributeTypes,
  type AttributeValue,
  type JsonValue,
} from "../../base/tuple.ts";
import { invalidField } from "../../service/field.ts";
import { typeUrlOf, valueTypeOf } from "../../service/value-type.ts";
import { attributeJson } from "../../store/attribute-value.ts";
import { type About, type JsonSchema, jsonField } from "./field.ts";

/** A typed value in JSON. */
export interface AnyValue {
  readonly "@type": string;
  readonly data: JsonValue;
}

const jsonOf: Readonly<Record<AttributeType, JsonSchema>> = listsBesides({
  boolean: { type: "boolean" },
  string: { type: "string", pattern: "^[^\\x00]*$" },
  integer: { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  // The sign of a zero would be lost in a number.
  double: { anyOf: [{ type: "number" }, { enum: ["NaN", "Infinity", "-Infinity", "-0"] }] },
});

/** The description of a typed value: one form for each type. */
const value: About = {
  component: "Value",
  schema: {
    oneOf: attributeTypes.map((type) => ({
      // Clients are generated with types of these names.
      title: typeUrlOf(type).replace(/^.*\./, ""),
      type: "object",
      properties: { "@type": { const: typeUrlOf(type) }, data: jsonOf[type] },
      required: ["@type", "data"],
    })),
  },
};

export const valueField = jsonField({ ...value, required: true });
export const valueAnswer = Type.Unsafe<AnyValue>({ about: value });

function listsBesides(
  single: Readonly<Record<"boolean" | "string" | "integer" | "double", JsonSchema>>,
): Readonly<Record<AttributeType, JsonSchema>> {
  const listOf = (items: JsonSchema): JsonSchema => ({ type: "array", items });
  return {
    ...single,
    "boolean[]": listOf(single.boolean),
    "string[]": listOf(single.string),
    "integer[]": listOf(single.integer),
    "double[]": listOf(single.double),
  };
}

/**
 * Reads `{"@type": "<host>/base.v1.StringValue", "data": "x"}`. Without `data`, it is the empty
 * value of its type, like the protobuf message.
 */
export function decodeAny(
  any: Readonly<Record<string, JsonValue>> | null | undefined,
  field: string,
): AttributeValue | undefined {
  if (any === undefined || any === null) return undefined;
  const type = valueTypeOf(any["@type"], `${field}.@type`);
  return decodeData(type, any["data"] ?? undefined, `${field}.data`);
}

/** Writes what `decodeAny` reads. Numbers that JSON cannot express are written as texts. */
export function encodeAny(value: AttributeValue): AnyValue {
  return { "@type": typeUrlOf(value.type), data: attributeJson(value) };
}

function decodeData(
  type: AttributeType,
  data: JsonValue | undefined,
  field: string,
): AttributeValue {
  switch (type) {
    case "boolean":
      return { type, data: booleanOf(data ?? false, field) };
    case "string":
      return { type, data: stringOf(data ?? "", field) };
    case "integer":
      return { type, data: integerOf(data ?? 0, field) };
    case "double":
      return { type, data: doubleOf(data ?? 0, field) };
    case "boolean[]":
      return { type, data: listOf(data ?? [], field, booleanOf) };
    case "string[]":
      return { type, data: listOf(data ?? [], field, stringOf) };
    case "integer[]":
      return { type, data: listOf(data ?? [], field, integerOf) };
    case "double[]":
      return { type, data: listOf(data ?? [], field, doubleOf) };
  }
}

function booleanOf(value: JsonValue, field: string): boolean {
  if (typeof value !== "boolean") throw wrongData(value, field, "true or false");
  return value;
}

function stringOf(value: JsonValue, field: string): string {
  if (typeof value !== "string") throw wrongData(value, field, "a text");
  return value;
}

const wholeNumber = /^[+-]?\d+$/;
const anyNumber = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function integerOf(value: JsonValue, field: string): number {
  const number = typeof value === "string" && wholeNumber.test(value) ? Number(value) : value;
  if (typeof number !== "number" || number !== (number | 0)) {
    throw wrongData(value, field, "an integer of 32 bits");
  }
  // The sum turns a negative zero, which JSON can express, into zero.
  return number + 0;
}

function doubleOf(value: JsonValue, field: string): number {
  if (value === "NaN") return Number.NaN;
  if (value === "Infinity") return Number.POSITIVE_INFINITY;
  if (value === "-Infinity") return Number.NEGATIVE_INFINITY;
  const number = typeof value === "string" && anyNumber.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) {
    throw wrongData(value, field, 'a number, "NaN", "Infinity" or "-Infinity"');
  }
  return number;
}

function listOf<T>(
  value: JsonValue,
  field: string,
  element: (item: JsonValue, field: string) => T,
): readonly T[] {
  if (!Array.isArray(value)) throw wrongData(value, field, "an array");
  return value.map((item: JsonValue, index) => element(item, `${field}[${index}]`));
}

function wrongData(value: JsonValue, field: string, expected: string): Error {
  const given = typeof value === "object" && value !== null ? kindOf(value) : quote(String(value));
  return invalidField(field, `${given} is not ${expected}`);
}

function kindOf(value: object): string {
  return Array.isArray(value) ? "an array" : "an object";
}
