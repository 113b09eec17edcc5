import { type Static, type TOptional, type TProperties, type TUnsafe, Type } from "typebox";

import { quote } from "../../base/quote.ts";
import type { JsonValue } from "../../base/tuple.ts";
import { invalidField } from "../../service/field.ts";

/** JSON Schema as the description of the API has it. */
export type JsonSchema = { readonly [key: string]: unknown };

/**
 * What the description of the API says of a field beyond its kind of JSON. Requests are held to it
 * by the service, whose rules these are, and never by the shape.
 */
export interface About {
  readonly description?: string;
  /** Whether a request without the field is refused. */
  readonly required?: true;
  /** A field that is taken, but need not be known: another spelling, or one without a use. */
  readonly isUntold?: true;
  /** The name under which the description has it. */
  readonly component?: string;
  /** What each element of a list, or each value of a map, is. */
  readonly of?: About;
  /** What each key of a map is. */
  readonly keys?: RegExp;
  /** Stands in the place of what the shape says. */
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
 * Fields of a request body. Every one may be absent or null, and objects may hold keys nobody
 * knows: which fields must be there is for the service to say, so that all transports agree. What
 * stands in `about` is told by the description of the API and not checked.
 */
type Field<T> = TOptional<TUnsafe<T | null>>;

function field<T>(shape: JsonSchema, about: About): Field<T> {
  return Type.Optional(Type.Unsafe<T | null>({ ...shape, about }));
}

export function textField(about: About = {}): Field<string> {
  return field({ type: ["string", "null"] }, about);
}

/** A whole number, as a number or as text; `int32` and `uint32` read it. */
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

/** An object with any keys, all of whose values have one shape. */
export function mapField<P extends TProperties>(
  properties: P,
  about: About = {},
): Field<Readonly<Record<string, Static<ObjectOf<P>>>>> {
  return field({ type: ["object", "null"], additionalProperties: Type.Object(properties) }, about);
}

/** An object with any keys, all of whose values are texts. */
export function textMapField(about: About = {}): Field<Readonly<Record<string, string>>> {
  return field({ type: ["object", "null"], additionalProperties: { type: "string" } }, about);
}

/** An object whose content is the client's own. */
export function jsonField(about: About = {}): Field<Readonly<Record<string, JsonValue>>> {
  return field({ type: ["object", "null"] }, about);
}

const wholeNumber = /^[+-]?\d+$/;

/** Reads an integer of 32 bits from a number or from text. */
export function int32(
  value: number | string | null | undefined,
  field: string,
): number | undefined {
  return integerWithin(value, field, { from: -(2 ** 31), to: 2 ** 31 - 1 });
}

/** Reads an integer of 32 bits without a sign from a number or from text. */
export function uint32(
  value: number | string | null | undefined,
  field: string,
): number | undefined {
  // The lower end lets negative numbers through to the rule that names the smallest allowed one.
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
