import { type Static, type TOptional, type TProperties, type TUnsafe, Type } from "typebox";

import { quote } from "../../base/quote.ts";
import type { JsonValue } from "../../base/tuple.ts";
import { invalidField } from "../../service/field.ts";

/**
 * Fields of a request body. Every one may be absent or null, and objects may hold keys nobody
 * knows: which fields must be there is for the service to say, so that all transports agree.
 */
type Field<T> = TOptional<TUnsafe<T | null>>;

export function textField(): Field<string> {
  return Type.Optional(Type.Unsafe<string | null>({ type: ["string", "null"] }));
}

/** A whole number, as a number or as text; `int32` and `uint32` read it. */
export function integerField(): Field<number | string> {
  return Type.Optional(
    Type.Unsafe<number | string | null>({ type: ["integer", "string", "null"] }),
  );
}

export function booleanField(): Field<boolean> {
  return Type.Optional(Type.Unsafe<boolean | null>({ type: ["boolean", "null"] }));
}

export function textListField(): Field<readonly string[]> {
  return Type.Optional(
    Type.Unsafe<readonly string[] | null>({ type: ["array", "null"], items: { type: "string" } }),
  );
}

export function objectField<P extends TProperties>(properties: P): Field<Static<ObjectOf<P>>> {
  return Type.Optional(
    Type.Unsafe<Static<ObjectOf<P>> | null>({
      ...Type.Object(properties),
      type: ["object", "null"],
    }),
  );
}

type ObjectOf<P extends TProperties> = ReturnType<typeof Type.Object<P>>;

export function listField<P extends TProperties>(
  properties: P,
): Field<readonly Static<ObjectOf<P>>[]> {
  return Type.Optional(
    Type.Unsafe<readonly Static<ObjectOf<P>>[] | null>({
      type: ["array", "null"],
      items: Type.Object(properties),
    }),
  );
}

/** An object with any keys, all of whose values have one shape. */
export function mapField<P extends TProperties>(
  properties: P,
): Field<Readonly<Record<string, Static<ObjectOf<P>>>>> {
  return Type.Optional(
    Type.Unsafe<Readonly<Record<string, Static<ObjectOf<P>>>> | null>({
      type: ["object", "null"],
      additionalProperties: Type.Object(properties),
    }),
  );
}

/** An object with any keys, all of whose values are texts. */
export function textMapField(): Field<Readonly<Record<string, string>>> {
  return Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>> | null>({
      type: ["object", "null"],
      additionalProperties: { type: "string" },
    }),
  );
}

/** An object whose content is the client's own. */
export function jsonField(): Field<Readonly<Record<string, JsonValue>>> {
  return Type.Optional(
    Type.Unsafe<Readonly<Record<string, JsonValue>> | null>({ type: ["object", "null"] }),
  );
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
