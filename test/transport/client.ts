import assert from "node:assert/strict";

import {
  createRegistry,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import {
  BooleanArrayValueSchema,
  BooleanValueSchema,
  DoubleArrayValueSchema,
  DoubleValueSchema,
  IntegerArrayValueSchema,
  IntegerValueSchema,
  StringArrayValueSchema,
  StringValueSchema,
} from "../../src/gen/base/v1/value_pb.ts";
import { failure, type GrpcClient } from "../support/grpc.ts";
import { openStream } from "../support/text-stream.ts";
import { type Operation, type OperationName, operations } from "./operations.ts";
import { restForm } from "./rest-form.ts";

/** The outcome of a request, in the shapes of REST for every transport. */
export type Outcome =
  | { readonly kind: "answer"; readonly body: JsonValue }
  | { readonly kind: "error"; readonly code: number; readonly message: string };

/** A client of the API, over one of the transports. */
export interface ApiClient {
  /** `request` is the body as REST has it; of a stream at most `count` answers are waited for. */
  readonly call: (
    name: OperationName,
    tenant: string,
    request: JsonObject,
    count?: number,
  ) => Promise<Outcome>;
}

/** How requests and answers of REST are written. */
interface RestForm {
  readonly headers: Readonly<Record<string, string>>;
  /** The answer in the documented form. */
  readonly read: (operation: Operation, body: JsonObject) => JsonValue;
}

const documented: RestForm = {
  headers: {},
  read: (_operation, body) => body["result"] ?? body,
};

/** Fails if an answer is not exactly what the mapping of its message says. */
export const protobufForm: RestForm = {
  headers: { "pemba-json": "protobuf" },
  read(operation, body) {
    const { kind, rpc } = operation;
    const json = kind === "stream" ? body["result"] : body;
    assert.ok(json !== undefined, JSON.stringify(body));
    const message = fromJson(rpc.output, json, { registry: valueTypes });
    const canonical = toJson(rpc.output, message, {
      registry: valueTypes,
      alwaysEmitImplicit: true,
    });
    assert.deepEqual(withoutNulls(json), canonical);
    return asJson(operation, message);
  },
};

/** Over an address where the app listens, since a stream needs a connection that can be left. */
export function restClient(address: string, form = documented): ApiClient {
  const { headers, read } = form;
  return {
    call: async (name, tenant, request, count = Number.POSITIVE_INFINITY) => {
      const operation: Operation = operations[name];
      const [method = "", path = ""] = operation.route.split(" ");
      const url = `${address}${path.replace("{tenant}", encodeURIComponent(tenant))}`;
      if (operation.kind === "unary") {
        const response = await fetch(url, { method, headers, body: JSON.stringify(request) });
        const body = objectOf(JSON.parse(await response.text()));
        return response.ok ? { kind: "answer", body: read(operation, body) } : errorOf(body);
      }
      const reply = await openStream(url, { method, headers, body: request });
      if (reply.status !== 200) return errorOf(objectOf(await reply.whole()));
      const bodies: JsonValue[] = [];
      for (let line = await reply.next(); line !== undefined; line = await reply.next()) {
        bodies.push(read(operation, objectOf(JSON.parse(line))));
        if (bodies.length === count) break;
      }
      reply.leave();
      return { kind: "answer", body: bodies };
    },
  };
}

/** A stream that fails before its first answer wraps the error as it does later. */
function errorOf(body: JsonObject): Outcome {
  const { code, message } = "error" in body ? objectOf(body["error"]) : body;
  assert.ok(typeof code === "number" && typeof message === "string", JSON.stringify(body));
  return { kind: "error", code, message };
}

export function grpcClient(client: GrpcClient): ApiClient {
  return {
    call: async (name, tenant, request, count = Number.POSITIVE_INFINITY) => {
      const operation: Operation = operations[name];
      const { input } = operation.rpc;
      const place =
        operation.rpc.name === "Delete" && name === "tenant delete" ? "id" : "tenant_id";
      const given = operation.route.includes("{tenant}")
        ? { ...request, [place]: tenant }
        : request;
      const message = fromJson(input, given, { registry: valueTypes, ignoreUnknownFields: true });
      return await outcomeOf(async () => {
        switch (operation.kind) {
          case "unary":
            return asJson(operation, await client.call(operation.rpc, message));
          case "stream": {
            const bodies: JsonValue[] = [];
            for await (const one of client.stream(operation.rpc, message)) {
              bodies.push(asJson(operation, one));
              if (bodies.length === count) break;
            }
            return bodies;
          }
        }
      });
    },
  };
}

async function outcomeOf(call: () => Promise<JsonValue>): Promise<Outcome> {
  const answer = call();
  const body = await answer.catch(() => undefined);
  if (body !== undefined) return { kind: "answer", body };
  const { code, details } = await failure(answer);
  assert.notEqual(code, status.UNKNOWN);
  return { kind: "error", code, message: details };
}

/** The types that an attribute's value may have. */
const valueTypes = createRegistry(
  BooleanValueSchema,
  BooleanArrayValueSchema,
  DoubleValueSchema,
  DoubleArrayValueSchema,
  IntegerValueSchema,
  IntegerArrayValueSchema,
  StringValueSchema,
  StringArrayValueSchema,
);

function asJson({ rpc }: Operation, message: MessageShape<Operation["rpc"]["output"]>): JsonValue {
  const json = toJson(rpc.output, message, {
    registry: valueTypes,
    alwaysEmitImplicit: true,
    useProtoFieldName: true,
  });
  return restForm(json);
}

/** A message that is not set may be null. */
function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const set = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(set.map(([key, part]) => [key, withoutNulls(part)]));
}

export function objectOf(value: unknown): JsonObject {
  assert.ok(isObject(value), JSON.stringify(value));
  return value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
