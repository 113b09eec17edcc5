import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as FieldType,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

import {
  ServerReflection,
  type ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from "../../src/gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../src/gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { type GrpcApp, serveGrpc } from "../support/grpc.ts";
import { enums, messages, methods } from "./published-api.ts";

/*
 * Reads what the server says of itself by reflection, and compares it with the published tables.
 */

const services = ["Permission", "Schema", "Data", "Bundle", "Tenancy", "Watch"];

let app: TestApp;
let grpc: GrpcApp;
let files: readonly FileDescriptorProto[];

before(async () => {
  const memory = engines.find(({ name }) => name === "memory");
  assert.ok(memory);
  app = await memory.start();
  grpc = await serveGrpc(app.service);
  files = await filesOf([...services.map((name) => `base.v1.${name}`), "base.v1.ErrorResponse"]);
});
after(async () => {
  await grpc.close();
  await app.close();
});

test("every method has its path, its messages and its kind", () => {
  const found = files.flatMap((file) =>
    file.service.flatMap((service) =>
      service.method.map((method) => {
        const output = `${method.serverStreaming ? "stream " : ""}${short(method.outputType)}`;
        assert.equal(method.clientStreaming, false);
        return `${service.name}/${method.name} ${short(method.inputType)} ${output}`;
      }),
    ),
  );
  assert.deepEqual(found.toSorted(), methods.toSorted());
});

test("every message has its fields with their numbers, types, oneofs and JSON names", () => {
  const found = files.flatMap(({ messageType }) =>
    messageType.map((message): [string, readonly string[]] => [
      message.name,
      message.field.map((field) => fieldLine(message, field)),
    ]),
  );
  assert.deepEqual(sorted(Object.fromEntries(found)), sorted(messages));
});

test("every enum has its values with their names and numbers", () => {
  const found = files.flatMap((file) => [
    ...file.enumType.map((type) => enumLines("", type)),
    ...file.messageType.flatMap((message) =>
      message.enumType.map((type) => enumLines(`${message.name}.`, type)),
    ),
  ]);
  assert.deepEqual(sorted(Object.fromEntries(found)), sorted(enums));
});

test("both versions of reflection list the same services", async () => {
  const question = { messageRequest: { case: "listServices" as const, value: "" } };
  const method = ServerReflection.method.serverReflectionInfo;
  const alpha = ServerReflectionAlpha.method.serverReflectionInfo;
  const lists = [
    ...(await grpc.client.converse(method, [question])),
    ...(await grpc.client.converse(alpha, [question])),
  ].map(({ messageResponse }) => {
    assert.ok(messageResponse.case === "listServicesResponse");
    return messageResponse.value.service.map(({ name }) => name).toSorted();
  });
  const expected = [
    ...services.map((name) => `base.v1.${name}`),
    "pemba.v1.Bundle",
    "pemba.v1.Data",
    "pemba.v1.Permission",
    "pemba.v1.Schema",
    "pemba.v1.Tenancy",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
  ].toSorted();
  assert.deepEqual(lists, [expected, expected]);
});

test("reflection finds files by every kind of name, with all that they import", async () => {
  const symbols = [
    "base.v1.Child",
    "base.v1.Child.leaf",
    "base.v1.Child.type",
    "base.v1.CHECK_RESULT_ALLOWED",
    "base.v1.Rewrite.OPERATION_UNION",
    "base.v1.Permission.Check",
    "google.api.expr.v1alpha1.CheckedExpr",
    "google.protobuf.Struct",
    "google.rpc.PreconditionFailure",
    "grpc.health.v1.Health",
  ];
  for (const file of await filesOf(symbols)) {
    const [again] = await ask({ case: "fileByFilename", value: file.name });
    assert.ok(again?.case === "fileDescriptorResponse");
    const all = again.value.fileDescriptorProto.map((bytes) =>
      fromBinary(FileDescriptorProtoSchema, bytes),
    );
    const names = new Set(all.map(({ name }) => name));
    for (const { dependency } of all) {
      for (const name of dependency) assert.ok(names.has(name), `${file.name} lacks ${name}`);
    }
  }
});

test("reflection says what it does not know, and goes on", async () => {
  const answers = await ask(
    { case: "fileContainingSymbol", value: "base.v1.Nothing" },
    { case: "fileByFilename", value: "nothing.proto" },
    { case: "allExtensionNumbersOfType", value: "base.v1.Nothing" },
    {
      case: "fileContainingExtension",
      value: { containingType: "base.v1.Child", extensionNumber: 1 },
    },
    { case: "allExtensionNumbersOfType", value: "base.v1.Child" },
  );
  assert.deepEqual(
    answers.map((answer) =>
      answer.case === "errorResponse" ? answer.value.errorCode : answer.case,
    ),
    [5, 5, 5, 5, "allExtensionNumbersResponse"],
  );
});

type Question = MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"];
type Answer = ServerReflectionResponse["messageResponse"];

async function ask(...questions: readonly Question[]): Promise<readonly Answer[]> {
  const answers = await grpc.client.converse(
    ServerReflection.method.serverReflectionInfo,
    questions.map((question) => (question === undefined ? {} : { messageRequest: question })),
  );
  return answers.map(({ messageResponse }) => messageResponse);
}

/** The files of our own package that are needed for the symbols, each once. */
async function filesOf(symbols: readonly string[]): Promise<readonly FileDescriptorProto[]> {
  const found = new Map<string, FileDescriptorProto>();
  const answers = await ask(
    ...symbols.map((value) => ({ case: "fileContainingSymbol" as const, value })),
  );
  for (const answer of answers) {
    assert.ok(answer.case === "fileDescriptorResponse", JSON.stringify(answer));
    for (const bytes of answer.value.fileDescriptorProto) {
      const file = fromBinary(FileDescriptorProtoSchema, bytes);
      if (file.package === "base.v1") found.set(file.name, file);
    }
  }
  return [...found.values()];
}

function fieldLine(message: DescriptorProto, field: FieldDescriptorProto): string {
  const oneof = message.oneofDecl[field.oneofIndex];
  const inOneof = field.type !== undefined && isInOneof(field) ? ` (${oneof?.name})` : "";
  const json = field.jsonName === camelCase(field.name) ? "" : ` as ${field.jsonName}`;
  return `${field.number} ${field.name} ${typeOf(message, field)}${inOneof}${json}`;
}

/** The index of a oneof is 0 also where there is none: only its presence tells. */
function isInOneof(field: FieldDescriptorProto): boolean {
  return Object.hasOwn(field, "oneofIndex");
}

function typeOf(message: DescriptorProto, field: FieldDescriptorProto): string {
  if (field.label !== Label.REPEATED) return plainType(field);
  const entry = message.nestedType.find(
    ({ name, options }) => options?.mapEntry === true && field.typeName.endsWith(`.${name}`),
  );
  const [key, value] = entry?.field ?? [];
  if (key === undefined || value === undefined) return `repeated ${plainType(field)}`;
  return `map<${plainType(key)}, ${plainType(value)}>`;
}

function plainType({ type, typeName }: FieldDescriptorProto): string {
  if (type !== FieldType.MESSAGE && type !== FieldType.ENUM) {
    const name = Object.entries(FieldType).find(([, number]) => number === type)?.[0];
    return (name ?? "").toLowerCase();
  }
  return short(typeName);
}

function enumLines(scope: string, type: EnumDescriptorProto): [string, readonly string[]] {
  return [`${scope}${type.name}`, type.value.map(({ name, number }) => `${name} ${number}`)];
}

function short(typeName: string): string {
  return typeName.replace(/^\./, "").replace(/^base\.v1\./, "");
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function sorted(lines: Readonly<Record<string, readonly string[]>>): readonly unknown[] {
  return Object.entries(lines).toSorted(([one], [other]) => (one < other ? -1 : 1));
}
