import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { FeatureSet_FieldPresence as Presence } from "@bufbuild/protobuf/wkt";

import { assert } from "../base/assert.ts";

/*
 * Writes messages of plain fields from what they are made of. The library writes all messages, but makes a message of
 * the fields first, and a writer for each message, whose memory costs far more than what is written.
 */

/** Fields by their names. One that is left out has the default of its type. */
type PlainFields = Readonly<Record<string, unknown>>;

type WriteValue<T> = (writer: BinaryWriter, value: T) => void;

/** By type; undefined if the library writes its messages. */
const known = new WeakMap<DescMessage, WriteValue<PlainFields> | undefined>();

/** What writes the fields of messages of this type; undefined if one of them is of a kind that the library has to write. */
export function plainWriteOf(schema: DescMessage): WriteValue<PlainFields> | undefined {
  if (!known.has(schema)) known.set(schema, messageWrite(schema, new Set()));
  return known.get(schema);
}

/** @param above the types that the message is within */
function messageWrite(
  schema: DescMessage,
  above: ReadonlySet<DescMessage>,
): WriteValue<PlainFields> | undefined {
  // Values and wrappers of the library have another form as a part of a message.
  if (above.has(schema) || schema.typeName.startsWith("google.protobuf.")) return undefined;
  const within = new Set([...above, schema]);
  const writes: WriteValue<PlainFields>[] = [];
  for (const field of schema.fields.toSorted((one, other) => one.number - other.number)) {
    const write = field.oneof === undefined ? fieldWrite(field, within) : undefined;
    if (write === undefined) return undefined;
    writes.push(write);
  }
  return (writer, message) => {
    for (const write of writes) write(writer, message);
  };
}

function fieldWrite(
  field: DescField,
  within: ReadonlySet<DescMessage>,
): WriteValue<PlainFields> | undefined {
  const { localName: name } = field;
  switch (field.fieldKind) {
    case "message": {
      const write = childWrite(field, field.message, within);
      if (write === undefined) return undefined;
      return (writer, { [name]: value }) => {
        if (value !== undefined && value !== null) write(writer, value);
      };
    }
    case "list": {
      const write = itemWrite(field, within);
      if (write === undefined) return undefined;
      return (writer, { [name]: values }) => {
        if (values === undefined || values === null) return;
        assert(Array.isArray(values), "a list is an array");
        for (const value of values) write(writer, value);
      };
    }
    case "scalar":
      return scalarWrite(field, field.scalar);
    case "enum":
      return scalarWrite(field, ScalarType.INT32);
    case "map":
      return undefined;
  }
}

function itemWrite(
  field: DescField & { readonly fieldKind: "list" },
  within: ReadonlySet<DescMessage>,
): WriteValue<unknown> | undefined {
  if (field.listKind === "message") return childWrite(field, field.message, within);
  if (field.listKind !== "scalar" || field.scalar !== ScalarType.STRING) return undefined;
  const tag = tagOf(field, WireType.LengthDelimited);
  return (writer, value) => {
    assert(typeof value === "string", "it is a text");
    writer.uint32(tag).string(value);
  };
}

function childWrite(
  field: DescField,
  schema: DescMessage,
  within: ReadonlySet<DescMessage>,
): WriteValue<unknown> | undefined {
  const write = messageWrite(schema, within);
  if (write === undefined) return undefined;
  const tag = tagOf(field, WireType.LengthDelimited);
  return (writer, value) => {
    assert(isFields(value), "it is a message");
    writer.uint32(tag).fork();
    write(writer, value);
    writer.join();
  };
}

function scalarWrite(field: DescField, type: ScalarType): WriteValue<PlainFields> | undefined {
  const { localName: name, presence } = field;
  // Of others it is said whether they are set.
  if (presence !== Presence.IMPLICIT) return undefined;
  switch (type) {
    case ScalarType.STRING: {
      const tag = tagOf(field, WireType.LengthDelimited);
      return (writer, { [name]: value = "" }) => {
        if (value === "" || value === null) return;
        assert(typeof value === "string", "it is a text");
        writer.uint32(tag).string(value);
      };
    }
    case ScalarType.BOOL: {
      const tag = tagOf(field, WireType.Varint);
      return (writer, { [name]: value }) => {
        if (value === true) writer.uint32(tag).bool(true);
      };
    }
    case ScalarType.INT32: {
      const tag = tagOf(field, WireType.Varint);
      return (writer, { [name]: value = 0 }) => {
        if (value === 0 || value === null) return;
        assert(typeof value === "number", "it is a number");
        writer.uint32(tag).int32(value);
      };
    }
    default:
      return undefined;
  }
}

function tagOf({ number }: DescField, wireType: WireType): number {
  return ((number << 3) | wireType) >>> 0;
}

export function isFields(value: unknown): value is PlainFields {
  return typeof value === "object" && value !== null;
}
