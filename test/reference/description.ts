import assert from "node:assert/strict";

import { Ajv2020 } from "ajv/dist/2020.js";

import type { JsonForm } from "../../src/http/json-form.ts";
import type { JsonSchema } from "../../src/http/shapes/field.ts";
import type { TestApp } from "../support/engines.ts";

/** What is described of one method of one path. */
export interface DescribedOperation {
  readonly id: string;
  readonly method: string;
  /** With `{name}` where a parameter stands. */
  readonly path: string;
  readonly parameters: readonly DescribedParameter[];
  /** The tokens that it takes, with their scopes. */
  readonly security: unknown;
  /** The schema of the body and an example of it; undefined when none is described. */
  readonly body: { readonly schema: JsonSchema; readonly example: unknown } | undefined;
  /** By status, then by content type. */
  readonly answers: ReadonlyMap<number, ReadonlyMap<string, DescribedContent>>;
}

export interface DescribedParameter {
  readonly name: string;
  readonly in: string;
  readonly schema: JsonSchema;
  readonly example: unknown;
}

interface DescribedContent {
  readonly schema: JsonSchema;
  readonly example: unknown;
}

/** The description that a server gives, as something to ask. */
export interface Description {
  readonly text: string;
  readonly operations: readonly DescribedOperation[];
  /** The schema behind a reference, else the schema itself. */
  resolve(schema: JsonSchema): JsonSchema;
  /** Whether a value is one that a schema of a request permits. */
  permits(schema: JsonSchema, value: unknown): boolean;
  /** What is not as described in a request body; "" when nothing is. */
  requestFault(operation: DescribedOperation, body: unknown): string;
  /** The same of an answer; a field that is not described is a fault, too. */
  answerFault(operation: DescribedOperation, answer: GivenAnswer): string;
}

export interface GivenAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
}

/** Asks a server for its description of a form of JSON. */
export async function describedBy(
  { app }: TestApp,
  form: JsonForm = "documented",
): Promise<Description> {
  const headers = { "pemba-json": form };
  const { statusCode, body } = await app.inject({ method: "GET", url: "/openapi.json", headers });
  assert.equal(statusCode, 200, body);
  return descriptionOf(body);
}

export function descriptionOf(text: string): Description {
  const document = objectOf(JSON.parse(text));
  const resolve = (schema: JsonSchema): JsonSchema => {
    const { $ref } = schema;
    if (typeof $ref !== "string") return schema;
    return objectOf(
      $ref
        .slice(2)
        .split("/")
        .reduce<unknown>((at, step) => objectOf(at)[step], document),
    );
  };
  const operations = Object.entries(objectOf(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).map(([method, operation]) =>
      operationOf(method.toUpperCase(), path, objectOf(operation), resolve),
    ),
  );
  const asRequest = validator(document);
  const asAnswer = validator(objectOf(withoutOthers(document)));
  return {
    text,
    operations,
    resolve,
    permits: (schema, value) => asRequest(schema, value) === "",
    requestFault: ({ body }, value) =>
      body === undefined ? "no body is described" : asRequest(body.schema, value),
    answerFault: ({ answers }, { status, contentType, body }) => {
      const contents = answers.get(status);
      if (contents === undefined) return `the status ${status} is not described`;
      const type = contentType.split(";", 1)[0] ?? "";
      const content = contents.get(type);
      if (content === undefined) return `\`${type}\` is not described for ${status}`;
      return asAnswer(objectOf(withoutOthers(content.schema)), body);
    },
  };
}

function operationOf(
  method: string,
  path: string,
  operation: JsonSchema,
  resolve: (schema: JsonSchema) => JsonSchema,
): DescribedOperation {
  const request = operation["requestBody"];
  const answers = Object.entries(objectOf(operation["responses"])).map(
    ([status, response]) =>
      [Number(status), contentsOf(resolve(objectOf(response))["content"])] as const,
  );
  return {
    id: String(operation["operationId"]),
    method,
    path,
    security: operation["security"],
    parameters: listOf(operation["parameters"] ?? []).map((parameter) => {
      const { name, in: place, schema, example } = resolve(objectOf(parameter));
      return { name: String(name), in: String(place), schema: objectOf(schema), example };
    }),
    body:
      request === undefined
        ? undefined
        : contentsOf(objectOf(request)["content"]).get("application/json"),
    answers: new Map(answers),
  };
}

function contentsOf(contents: unknown): ReadonlyMap<string, DescribedContent> {
  return new Map(
    Object.entries(objectOf(contents)).map(([type, content]) => {
      const { schema, example } = objectOf(content);
      return [type, { schema: objectOf(schema), example }];
    }),
  );
}

/** Holds a value against a schema of the document. */
function validator(document: JsonSchema): (schema: JsonSchema, value: unknown) => string {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false });
  ajv.addSchema({ $id: "api", components: document["components"] });
  const compiled = new Map<JsonSchema, ReturnType<Ajv2020["compile"]>>();
  return (schema, value) => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
    const validate = compiled.get(schema) ?? ajv.compile(JSON.parse(text));
    compiled.set(schema, validate);
    return validate(value) ? "" : ajv.errorsText(validate.errors);
  };
}

/** The same schemas, with objects that have the described fields alone. */
function withoutOthers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutOthers);
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.entries(schema).map(([key, part]) =>
    key === "example" ? [key, part] : [key, withoutOthers(part)],
  );
  const isClosed =
    "properties" in schema &&
    "type" in schema &&
    schema.type === "object" &&
    !("additionalProperties" in schema);
  return { ...Object.fromEntries(parts), ...(isClosed && { additionalProperties: false }) };
}

export function objectOf(value: unknown): JsonSchema {
  assert.ok(typeof value === "object" && value !== null, `not an object: ${String(value)}`);
  return Object.fromEntries(Object.entries(value));
}

function listOf(value: unknown): readonly unknown[] {
  assert.ok(Array.isArray(value));
  return value;
}
