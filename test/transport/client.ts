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
import type { TestApp } from "../support/engines.ts";
import { failure, type GrpcClient } from "../support/grpc.ts";
import { type Operation, type OperationName, operations } from "./operations.ts";
import { restForm } from "./rest-form.ts";

/** What became of a request, in the shapes of REST whatever it went over. */
export type Outcome =
  | { readonly kind: "answer"; readonly body: JsonValue }
  | { readonly kind: "error"; readonly code: number; readonly message: string };

/** A client of the API, over one of the transports. */
export interface ApiClient {
  /** `request` is the body as REST has it. */
  readonly call: (name: OperationName, tenant: string, request: JsonObject) => Promise<Outcome>;
}

export function restClient({ app }: TestApp): ApiClient {
  return {
    call: async (name, tenant, request) => {
      const operation: Operation = operations[name];
      const [method, path] = operation.route.split(" ");
      const response = await app.inject({
        method: method as "POST",
        url: path?.replace("{tenant}", encodeURIComponent(tenant)) ?? assert.fail("no path"),
        payload: JSON.stringify(request),
      });
      if (response.statusCode !== 200) return errorOf(objectOf(JSON.parse(response.body)));
      if (operation.kind === "unary") return { kind: "answer", body: JSON.parse(response.body) };
      const lines = response.body.split("\n").filter((line) => line !== "");
      return {
        kind: "answer",
        body: lines.map((line) => objectOf(JSON.parse(line))["result"] ?? null),
      };
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
    call: async (name, tenant, request) => {
      const operation: Operation = operations[name];
      const { input } = operation.rpc;
      const place =
        operation.rpc.name === "Delete" && name === "tenant delete" ? "id" : "tenant_id";
      const given = operation.route.includes("{tenant}")
        ? { ...request, [place]: tenant }
        : request;
      const message = fromJson(input, given, { registry: values, ignoreUnknownFields: true });
      return await outcomeOf(async () => {
        switch (operation.kind) {
          case "unary":
            return asJson(operation, await client.call(operation.rpc, message));
          case "stream": {
            const bodies: JsonValue[] = [];
            for await (const one of client.stream(operation.rpc, message)) {
              bodies.push(asJson(operation, one));
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
const values = createRegistry(
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
    registry: values,
    alwaysEmitImplicit: true,
    useProtoFieldName: true,
  });
  return restForm(json);
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  assert.ok(
    typeof value === "object" && value !== null && !Array.isArray(value),
    JSON.stringify(value),
  );
  return value;
}
