import assert from "node:assert/strict";
import { test } from "node:test";

import {
  create,
  createFileRegistry,
  type DescField,
  type DescMessage,
  type MessageInitShape,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";

import { DataWriteResponseSchema } from "../../src/gen/base/v1/data_pb.ts";
import {
  Permission,
  PermissionCheckResponseSchema,
  PermissionLookupEntityResponseSchema,
  PermissionLookupEntityStreamResponseSchema,
} from "../../src/gen/base/v1/permission_pb.ts";
import { encodeMessage } from "../../src/messages/binary.ts";
import { apiServices } from "../../src/messages/operations.ts";
import { plainWriteOf } from "../../src/messages/plain-writer.ts";
import { dice } from "../support/dice.ts";
import { seed } from "../support/run-length.ts";

const { upTo, happens } = dice(1);

const texts = ["", "a", "ann", "é", "\u{1f600}", "x".repeat(127), "y".repeat(128), "ü".repeat(300)];
const numbers = [0, 1, 127, 128, 300, 2_147_483_647, -1, -2_147_483_648];

function oneOf<T>(values: readonly T[]): T {
  return values[upTo(values.length)] ?? assert.fail("no value");
}

/** What a value of a field may be made of; undefined for a kind that no message of the API has. */
function valueOf(field: DescField, levels: number): unknown {
  if (field.message !== undefined) return fieldsOf(field.message, levels - 1);
  if (field.enum !== undefined) return oneOf(field.enum.values).number;
  switch (field.scalar) {
    case ScalarType.STRING:
      return oneOf(texts);
    case ScalarType.BOOL:
      return happens(0.5);
    case ScalarType.INT32:
      return oneOf(numbers);
    case ScalarType.UINT32:
      return Math.abs(oneOf(numbers));
    case ScalarType.BYTES:
      return Uint8Array.from([1, 2, 3]);
    case ScalarType.DOUBLE:
      return upTo(10) / 3;
    default:
      return undefined;
  }
}

/** Some fields of a message, with values. */
function fieldsOf(schema: DescMessage, levels: number): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  // They are written in another form.
  if (
    levels === 0 ||
    /^google\.protobuf\.(Struct|Value|ListValue|.*Value)$/.test(schema.typeName)
  ) {
    return fields;
  }
  for (const field of schema.fields) {
    if (happens(0.2)) continue;
    const { localName, oneof } = field;
    if (oneof !== undefined) {
      fields[oneof.localName] = { case: localName, value: valueOf(field, levels) };
    } else if (field.fieldKind === "list") {
      const values = Array.from({ length: upTo(4) }, () => valueOf(field, levels));
      fields[localName] = happens(0.05) ? null : values;
    } else if (field.fieldKind === "map") {
      if (field.mapKey !== ScalarType.STRING) continue;
      fields[localName] = Object.fromEntries(
        ["a", "é"].slice(upTo(3)).map((key) => [key, valueOf(field, levels)]),
      );
    } else {
      fields[localName] = happens(0.05) ? null : valueOf(field, levels);
    }
  }
  return fields;
}

function isWrittenAlike<D extends DescMessage>(schema: D, init: MessageInitShape<D>): void {
  const message = create(schema, init);
  const right = Buffer.from(toBinary(schema, message)).toString("hex");
  assert.equal(encodeMessage(schema, init).toString("hex"), right, schema.typeName);
  assert.equal(encodeMessage(schema, message).toString("hex"), right, schema.typeName);
}

test("messages of the API are written as the library writes them", (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const methods = apiServices.flatMap((service) => service.methods);
  const schemas: ReadonlySet<DescMessage> = new Set(
    methods.flatMap(({ input, output }) => [input, output]),
  );
  let plain = 0;
  for (const schema of schemas) {
    if (plainWriteOf(schema) !== undefined) plain += 1;
    for (let times = 0; times < 50; times += 1) isWrittenAlike(schema, fieldsOf(schema, 4));
  }
  t.diagnostic(`${plain} of ${schemas.size} types have plain fields`);
});

test("what is answered most often has plain fields", () => {
  for (const { output } of [
    Permission.method.check,
    Permission.method.bulkCheck,
    Permission.method.lookupEntity,
    Permission.method.lookupEntityStream,
    Permission.method.lookupSubject,
  ]) {
    assert.ok(plainWriteOf(output) !== undefined, output.typeName);
  }
  assert.ok(plainWriteOf(DataWriteResponseSchema) !== undefined);
});

test("long messages are written beside short ones", () => {
  const entityIds = Array.from({ length: 10_000 }, (_, index) => `document ${index}`);
  for (let times = 0; times < 3; times += 1) {
    isWrittenAlike(PermissionCheckResponseSchema, { can: 1, metadata: { checkCount: times } });
    isWrittenAlike(PermissionLookupEntityResponseSchema, { entityIds, continuousToken: "next" });
  }
});

test("a message that cannot be written leaves nothing in the next one", () => {
  const schema: DescMessage = PermissionLookupEntityStreamResponseSchema;
  assert.throws(() => encodeMessage(schema, { entityId: "ann", continuousToken: 1 }));
  isWrittenAlike(PermissionLookupEntityStreamResponseSchema, { entityId: "bob" });
});

/** Types with fields that none of the API has. */
const others = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      {
        name: "others.proto",
        package: "others",
        syntax: "proto3",
        messageType: [
          {
            name: "Plain",
            // Not in the order of their numbers.
            field: [
              { name: "far", number: 70_000, type: Type.STRING, label: Label.OPTIONAL },
              { name: "near", number: 1, type: Type.STRING, label: Label.OPTIONAL },
              { name: "truth", number: 300, type: Type.BOOL, label: Label.OPTIONAL },
              { name: "count", number: 16, type: Type.INT32, label: Label.OPTIONAL },
              { name: "names", number: 17, type: Type.STRING, label: Label.REPEATED },
            ],
          },
          {
            name: "Chain",
            field: [
              {
                name: "next",
                number: 1,
                type: Type.MESSAGE,
                label: Label.OPTIONAL,
                typeName: ".others.Chain",
              },
              { name: "name", number: 2, type: Type.STRING, label: Label.OPTIONAL },
            ],
          },
          {
            name: "Chosen",
            oneofDecl: [{ name: "choice" }],
            field: [
              { name: "text", number: 1, type: Type.STRING, label: Label.OPTIONAL, oneofIndex: 0 },
              { name: "truth", number: 2, type: Type.BOOL, label: Label.OPTIONAL, oneofIndex: 0 },
            ],
          },
        ],
      },
    ],
  }),
);

test("fields of any number and order are written as the library writes them", () => {
  for (const [name, isPlain] of [
    ["others.Plain", true],
    ["others.Chain", false],
    ["others.Chosen", false],
  ] as const) {
    const schema = others.getMessage(name) ?? assert.fail(name);
    assert.equal(plainWriteOf(schema) !== undefined, isPlain, name);
    for (let times = 0; times < 50; times += 1) isWrittenAlike(schema, fieldsOf(schema, 4));
  }
});
