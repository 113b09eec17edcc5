import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/schema";

import type { PembaError } from "../base/error.ts";
import { describeJson, objectForText } from "../base/json-kind.ts";
import { invalidField } from "../service/field.ts";
import { type BodyPart, fieldsOf, partUnder } from "./body-part.ts";

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
    const [, errors] = shape.Errors(given);
    return { error: faultOf(errors, { shape: schema, value: given, path: "" }) };
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

function faultOf(errors: Iterable<ShapeError>, body: BodyPart): PembaError {
  for (const { instancePath, params } of errors) {
    const steps = instancePath.split("/").slice(1).map(unescape);
    const expected = "type" in params ? expectedKind(params.type) : "another shape";
    const part = steps.reduce(partUnder, body);
    const hint = objectForText(part.value, fieldsOf(part) ?? []);
    return invalidField(
      part.path === "" ? "body" : part.path,
      `${describeJson(part.value)} is not ${expected}${hint}`,
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

/** Decodes the escapes of a JSON pointer. */
function unescape(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}
