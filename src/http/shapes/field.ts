import { type Static, type TOptional, type TProperties, type TUnsafe, Type } from "typebox";

import { quote } from "../../base/quote.ts";
import type { JsonValue } from "../../base/tuple.ts";
import { invalidField } from "../../service/field.ts";

/** JSON Schema in the API description. */
export type JsonSchema = { readonly [key: string]: unknown };

/**
 * What the API description says about a field beyond its JSON type. The shape does not check it:
 * the service does, which owns these rules.
 */
export interface About {
  readonly description?: string;
  /** Whether a request without the field is refused. */
  readonly required?: true;
  /** Accepted but not documented: an alternative spelling, or a field without effect. */
  readonly isUndocumented?: true;
  /** The component name of the shape in the description. */
  readonly component?: string;
  /** Describes each element of a list, or each value of a map. */
  readonly of?: About;
  /** Describes each key of a map. */
  readonly keys?: RegExp;
  /** Replaces what the shape says. */
  readonly schema?: JsonSchema;
  readonly pattern?: RegExp;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly default?: unknown;
}

/**
 * Fields of a request body. Every field may be absent or null, and objects may have unknown keys.
 * The service decides which fields are required, so that all transports agree. `about` is
 * documentation and is not checked.
 */
type Field<T> = TOptional<TUnsafe<T | null>>;

function field<T>(shape: JsonSchema, about: About): Field<T> {
  return Type.Optional(Type.Unsafe<T | null>({ ...shape, about }));
}

export function textField(about: About = {}): Field<string> {
  return field({ type: ["string", "null"] }, about);
}

/** An integer, as a number or as text. `int32` and `uint32` read it. */
export function integerField(about: About = {}): Field<number | string> {
  return field({ type: ["integer", "string", "null"] }, about);
}

export function booleanField(about: About = {}): Field<boolean> {
  return field({ type: ["boolean", "null"] }, about);
}

export function textListField(about: About = {}): Field<readonly string[]> {
  return field({ type: ["array", "null"], items: { type: "string" } }, about);
}

export function objectField<P extends TProperties>(
  properties: P,
  about: About = {},
): Field<Static<ObjectOf<P>>> {
  return field({ ...Type.Object(properties), type: ["object", "null"] }, about);
}

type ObjectOf<P extends TProperties> = ReturnType<typeof Type.Object<P>>;

export function listField<P extends TProperties>(
  properties: P,
  about: About = {},
): Field<readonly Static<ObjectOf<P>>[]> {
  return field({ type: ["array", "null"], items: Type.Object(properties) }, about);
}

/** An object with any keys, whose values all have one shape. */
export function mapField<P extends TProperties>(
  properties: P,
  about: About = {},
): Field<Readonly<Record<string, Static<ObjectOf<P>>>>> {
  return field({ type: ["object", "null"], additionalProperties: Type.Object(properties) }, about);
}

/** An object with any keys, whose values are all texts. */
export function textMapField(about: About = {}): Field<Readonly<Record<string, string>>> {
  return field({ type: ["object", "null"], additionalProperties: { type: "string" } }, about);
}

/** An object with any content. */
export function jsonField(about: About = {}): Field<Readonly<Record<string, JsonValue>>> {
  return field({ type: ["object", "null"] }, about);
}

const wholeNumber = /^[+-]?\d+$/;

/** Reads a 32-bit integer from a number or a text. */
export function int32(
  value: number | string | null | undefined,
  field: string,
): number | undefined {
  return integerWithin(value, field, { from: -(2 ** 31), to: 2 ** 31 - 1 });
}

/** Reads an unsigned 32-bit integer from a number or a text. */
export function uint32(
  value: number | string | null | undefined,
  field: string,
): number | undefined {
  // Negative numbers pass, so that a later rule can name the smallest allowed value.
  return integerWithin(value, field, { from: -(2 ** 31), to: 2 ** 32 - 1 });
}

function integerWithin(
  value: number | string | null | undefined,
  field: string,
  range: { readonly from: number; readonly to: number },
): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "number" || wholeNumber.test(value) ? Number(value) : Number.NaN;
  if (!Number.isInteger(number) || number < range.from || number > range.to) {
    throw invalidField(field, `${quote(String(value))} is not an integer of 32 bits`);
  }
  return number + 0;
}
