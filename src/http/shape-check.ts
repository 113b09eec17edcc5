import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/schema";

import type { PembaError } from "../base/error.ts";
import { describeJson, objectForText } from "../base/json-kind.ts";
import { invalidField } from "../service/field.ts";
import { at, type BodyPart, fieldsOf, partUnder } from "./body-part.ts";

/**
 * Compiles the shape of a body, a query or a path. It only checks the types of JSON. It reports a
 * fault by the JSON path of the field, as the service does.
 */
export const shapeCompiler: FastifySchemaCompiler<TSchema> = ({ schema }) => {
  const shape = Compile(schema);
  return (value: unknown) => {
    // An absent body counts as an empty one.
    const given = value ?? {};
    if (shape.Check(given)) return { value: given };
    return { error: faultOf({ shape: schema, value: given, path: "" }) };
  };
};

/** A part that is of another kind of JSON than its shape. */
interface Mismatch {
  /** The keys and indexes that lead to it, the last one first. */
  readonly steps: string[];
  readonly type: unknown;
}

const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  integer: "an integer",
  object: "an object",
  array: "an array",
  boolean: "true or false",
};

function faultOf(body: BodyPart): PembaError {
  const mismatch = firstMismatch(body.shape, body.value);
  if (mismatch === undefined) return invalidField("body", "has the wrong shape");
  const part = mismatch.steps.reduceRight(partUnder, body);
  const hint = objectForText(part.value, fieldsOf(part) ?? []);
  return invalidField(
    part.path === "" ? "body" : part.path,
    `${describeJson(part.value)} is not ${expectedKind(mismatch.type)}${hint}`,
  );
}

/**
 * The first mismatch, in the order of the shape. A compiled shape lists all errors of a body, which may be very
 * many, and takes far longer for that than for a check.
 */
function firstMismatch(shape: unknown, value: unknown): Mismatch | undefined {
  const type = at(shape, "type");
  if (type !== undefined && ![type].flat().some((name) => isOfType(value, name))) {
    return { steps: [], type };
  }
  if (typeof value !== "object" || value === null) return undefined;
  return mismatchOfElement(shape, value) ?? mismatchOfField(shape, value);
}

/** In a list or a map, whose elements all have one shape. */
function mismatchOfElement(shape: unknown, value: object): Mismatch | undefined {
  const inner = at(shape, Array.isArray(value) ? "items" : "additionalProperties");
  if (typeof inner !== "object" || inner === null) return undefined;
  const isRight = checkOf(inner);
  if (Array.isArray(value)) {
    const index = value.findIndex((element) => !isRight(element));
    return index === -1 ? undefined : mismatchAt(String(index), inner, value);
  }
  const wrong = Object.entries(value).find(([, element]) => !isRight(element));
  return wrong === undefined ? undefined : mismatchAt(wrong[0], inner, value);
}

/** In an object, each of whose fields has a shape of its own. */
function mismatchOfField(shape: unknown, value: object): Mismatch | undefined {
  for (const [key, inner] of Object.entries(at(shape, "properties") ?? {})) {
    const mismatch = mismatchAt(key, inner, value);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}

/** Every field may be absent. */
function mismatchAt(step: string, shape: unknown, value: object): Mismatch | undefined {
  const inner = at(value, step);
  const mismatch = inner === undefined ? undefined : firstMismatch(shape, inner);
  mismatch?.steps.push(step);
  return mismatch;
}

/** Compiled when a request first has a fault: most shapes never need it. */
const checks = new WeakMap<object, (value: unknown) => boolean>();

function checkOf(shape: object): (value: unknown) => boolean {
  const known = checks.get(shape);
  if (known !== undefined) return known;
  const compiled = Compile(shape);
  const check = (value: unknown): boolean => compiled.Check(value);
  checks.set(shape, check);
  return check;
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** A field that also takes numbers as text is called an integer. */
function expectedKind(type: unknown): string {
  const names = [type].flat().map(String);
  const name = names.includes("integer") ? "integer" : names.find((known) => known !== "null");
  return kinds[name ?? ""] ?? "another kind of JSON";
}
