import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";

import type { PembaError } from "../base/error.ts";
import { describeJson } from "../base/json-kind.ts";
import { shorten } from "../base/quote.ts";
import { invalidField } from "../service/field.ts";

/**
 * Compiles the shape of a body, a query or a path. It only checks the types of JSON. It reports a
 * fault by the JSON path of the field, as the service does.
 */
export const shapeCompiler: FastifySchemaCompiler<TSchema> = ({ schema }) => {
  const shape = Compile(schema);
  return (value: unknown) => {
    // An absent body counts as an empty one.
    const given = value ?? {};
    return shape.Check(given) ? { value: given } : { error: faultOf(shape.Errors(given), given) };
  };
};

interface ShapeError {
  readonly instancePath: string;
  readonly params: object;
}

const kinds: Readonly<Record<string, string>> = {
  string: "a text",
  integer: "an integer",
  object: "an object",
  array: "an array",
  boolean: "true or false",
};

function faultOf(errors: Iterable<ShapeError>, value: unknown): PembaError {
  for (const { instancePath, params } of errors) {
    const steps = instancePath.split("/").slice(1).map(unescape);
    const expected = "type" in params ? expectedKind(params.type) : "another shape";
    return invalidField(
      fieldOf(value, steps),
      `${describeJson(valueAt(value, steps))} is not ${expected}`,
    );
  }
  return invalidField("body", "has the wrong shape");
}

/** A field that also takes numbers as text is called an integer. */
function expectedKind(type: unknown): string {
  const names = [type].flat().map(String);
  const name = names.includes("integer") ? "integer" : names.find((known) => known !== "null");
  return kinds[name ?? ""] ?? "another kind of JSON";
}

/** A numeric key belongs to an object, unless the value is a list. */
function fieldOf(value: unknown, steps: readonly string[]): string {
  const path = steps
    .map((step, index) =>
      Array.isArray(valueAt(value, steps.slice(0, index))) ? `[${step}]` : `.${shorten(step)}`,
    )
    .join("");
  return path === "" ? "body" : path.replace(/^\./, "");
}

function valueAt(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (at, step) => (typeof at === "object" && at !== null ? Reflect.get(at, step) : undefined),
    value,
  );
}

/** Decodes the escapes of a JSON pointer. */
function unescape(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}
