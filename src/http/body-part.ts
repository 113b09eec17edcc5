import { pathUnder } from "../base/quote.ts";

/** A part of a body, with the shape that it should have. */
export interface BodyPart {
  readonly shape: unknown;
  readonly value: unknown;
  /** Of the part in the body, such as `tuples[3].entity`. "" for the whole body. */
  readonly path: string;
}

/** The part under a key of an object, or in a list. Its shape and value are undefined where there are none. */
export function partUnder({ shape, value, path }: BodyPart, step: string): BodyPart {
  if (Array.isArray(value)) {
    return { shape: at(shape, "items"), value: at(value, step), path: `${path}[${step}]` };
  }
  const inner = at(at(shape, "properties"), step) ?? at(shape, "additionalProperties");
  return { shape: inner, value: at(value, step), path: pathUnder(path, step) };
}

/** The names of the fields of a shape. Undefined if it has none of its own. */
export function fieldsOf({ shape }: BodyPart): readonly string[] | undefined {
  const properties = at(shape, "properties");
  return typeof properties === "object" && properties !== null
    ? Object.keys(properties)
    : undefined;
}

/** What an object or a list has of its own under a key. */
export function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}
