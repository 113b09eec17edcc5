import type { DescMethod } from "@bufbuild/protobuf";
import { Type } from "typebox";

import { timeoutPattern } from "../../base/grpc-timeout.ts";
import type { Scope } from "../../base/scope.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import type { JsonForm } from "../json-form.ts";
import { streamErrorAnswer } from "../shapes/error.ts";
import type { JsonSchema } from "../shapes/field.ts";
import { describeMessage } from "./describe-message.ts";
import { type Components, describeShape, isObject } from "./describe-shape.ts";
import type { Example } from "./example.ts";
import type { OperationText } from "./operations.ts";
import { refusalReference, refusalsOf, requestIdHeader, streamRefusal } from "./refusals.ts";

/** One method of one path. */
export interface DescribedOperation {
  /** Parameters are written `{name}`. */
  readonly path: string;
  /** The scope that a token needs. Undefined if the operation is open. */
  readonly scope: Scope | undefined;
  readonly text: OperationText;
  readonly example: Example;
  readonly shapes: Shapes;
  /** Whether an error can replace an item, also the first one. */
  readonly hasStreamErrors: boolean;
  /** The method whose messages are described. Undefined: the shapes are. */
  readonly method: DescMethod | undefined;
}

/** The shapes of a route, which the framework leaves untyped. */
export interface Shapes {
  readonly params?: unknown;
  readonly querystring?: unknown;
  readonly body?: unknown;
  readonly response?: unknown;
}

/** An OpenAPI operation object. Schemas that it refers to are added to the components. */
export function describeOperation(
  operation: DescribedOperation,
  components: Components,
): JsonSchema {
  const { path, scope, text, example, shapes, method } = operation;
  const parameters = [
    ...parametersOf("path", shapes.params, example.path, components),
    ...parametersOf("query", shapes.querystring, example.query, components),
    ...(path.startsWith("/v1/") ? [timeoutReference, jsonReference] : []),
  ];
  // A body may contain the fields of the query too, but tools do not support bodies of GET.
  const body = shapes.querystring === undefined ? shapes.body : undefined;
  return {
    operationId: text.id,
    tags: [text.tag],
    summary: text.summary,
    ...(text.description !== undefined && { description: text.description }),
    security: scope === undefined ? [] : [{}, { token: [scope] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody:
        method === undefined
          ? requestOf(body, example, components)
          : messageRequest(method, path, components),
    }),
    responses: {
      ...(method === undefined
        ? answersOf(operation, components)
        : messageAnswer(method, components)),
      ...refusalsIn(operation, components),
    },
  };
}

function parametersOf(
  place: "path" | "query",
  shape: unknown,
  example: Example["query"],
  components: Components,
): readonly JsonSchema[] {
  if (shape === undefined) return [];
  const { properties } = describeShape(shape, components);
  return Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => {
    const { description, ...schema } = isObject(property) ? property : {};
    return {
      name,
      in: place,
      required: place === "path",
      description,
      schema,
      ...(example?.[name] !== undefined && { example: example[name] }),
    };
  });
}

function requestOf(shape: unknown, example: Example, components: Components): JsonSchema {
  const schema = describeShape(shape, components);
  return {
    required: "required" in schema,
    content: { "application/json": { schema, example: example.request } },
  };
}

/** The successful answers, by status. */
function answersOf(
  { shapes, example }: Pick<DescribedOperation, "shapes" | "example">,
  components: Components,
): JsonSchema {
  const answers = Object.entries(isObject(shapes.response) ? shapes.response : {});
  return Object.fromEntries(
    answers.map(([status, shape]) => [
      status,
      {
        description: status === "200" ? "Done." : "Not now.",
        headers: requestIdHeader,
        content:
          isObject(shape) && isObject(shape["content"])
            ? describeStream(shape["content"], example, components)
            : {
                "application/json": {
                  schema: describeShape(shape, components),
                  example: example.answers[Number(status)],
                },
              },
      },
    ]),
  );
}

/** An item in each format: events as text, else a line, which may be an error. */
function describeStream(
  formats: JsonSchema,
  { answers, events }: Example,
  components: Components,
): JsonSchema {
  return Object.fromEntries(
    Object.entries(formats).map(([contentType, format]) => {
      const item = isObject(format) ? format["schema"] : undefined;
      return [
        contentType,
        contentType === "text/event-stream"
          ? { schema: { type: "string" }, example: events }
          : {
              schema: {
                anyOf: [item, streamErrorAnswer].map((shape) => describeShape(shape, components)),
              },
              example: answers[200],
            },
      ];
    }),
  );
}

/** Fields in the path of an operation are not in its body. */
function messageRequest({ input }: DescMethod, path: string, components: Components): JsonSchema {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const schema = describeMessage(input, components, inPath);
  return { required: true, content: { "application/json": { schema } } };
}

/** The answer of a method; of a stream, a line in its envelope. */
function messageAnswer({ output, methodKind }: DescMethod, components: Components): JsonSchema {
  const answer = describeMessage(output, components);
  const schema = methodKind === "unary" ? answer : { anyOf: envelopes(answer, components) };
  return {
    200: {
      description: "Done.",
      headers: requestIdHeader,
      content: { "application/json": { schema } },
    },
  };
}

function envelopes(answer: JsonSchema, components: Components): readonly JsonSchema[] {
  const parts = { result: answer, error: describeMessage(StatusSchema, components) };
  return Object.entries(parts).map(([name, part]) => ({
    type: "object",
    properties: { [name]: part },
    required: [name],
  }));
}

function refusalsIn(
  { path, hasStreamErrors, method }: DescribedOperation,
  components: Components,
): JsonSchema {
  return Object.fromEntries(
    refusalsOf(path).map((status) => [
      status,
      hasStreamErrors
        ? streamRefusal(status, formOf(method), components)
        : refusalReference(status),
    ]),
  );
}

function formOf(method: DescMethod | undefined): JsonForm {
  return method === undefined ? "documented" : "protobuf";
}

/** The header parameters of every operation of `/v1/`, by their component names. */
export function headerParameters(form: JsonForm, components: Components): JsonSchema {
  return {
    Timeout: {
      name: "Grpc-Timeout",
      in: "header",
      required: false,
      description:
        "How long the client waits, in hours, minutes, seconds, milli-, micro- or nanoseconds (`H`, `M`, `S`, `m`, `u`, `n`), such as `500m`: after it the request is answered with 504 and its work is cancelled.",
      // Without an example: pages that try operations would send it.
      schema: { type: "string", pattern: timeoutPattern.source },
    },
    Json: {
      name: "Pemba-Json",
      in: "header",
      required: false,
      description:
        "The form of JSON in the body and in the answer. Without it, the configuration of the server says which (`server.http.json`).",
      schema: describeShape(Type.Enum([form], { about: { component: "JsonForm" } }), components),
    },
  };
}

/** The references to them in an operation. */
const timeoutReference: JsonSchema = { $ref: "#/components/parameters/Timeout" };
const jsonReference: JsonSchema = { $ref: "#/components/parameters/Json" };
