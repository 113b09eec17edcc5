import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";

import type { AttributeValue } from "../base/tuple.ts";
import {
  BooleanArrayValueSchema,
  BooleanValueSchema,
  DoubleArrayValueSchema,
  DoubleValueSchema,
  IntegerArrayValueSchema,
  IntegerValueSchema,
  StringArrayValueSchema,
  StringValueSchema,
} from "../gen/base/v1/value_pb.ts";
import { valueTypeOf } from "../service/value-type.ts";
import { decodeMessage } from "./binary.ts";

/** Decodes the message in an Any. `field` is the path of the Any. */
export function decodeAny(any: Any | undefined, field: string): AttributeValue | undefined {
  if (any === undefined) return undefined;
  const type = valueTypeOf(any.typeUrl, `${field}.@type`);
  switch (type) {
    case "boolean":
      return { type, data: decodeMessage(BooleanValueSchema, any.value, field).data };
    case "boolean[]":
      return { type, data: decodeMessage(BooleanArrayValueSchema, any.value, field).data };
    case "string":
      return { type, data: decodeMessage(StringValueSchema, any.value, field).data };
    case "string[]":
      return { type, data: decodeMessage(StringArrayValueSchema, any.value, field).data };
    case "integer":
      return { type, data: decodeMessage(IntegerValueSchema, any.value, field).data };
    case "integer[]":
      return { type, data: decodeMessage(IntegerArrayValueSchema, any.value, field).data };
    case "double":
      return { type, data: decodeMessage(DoubleValueSchema, any.value, field).data };
    case "double[]":
      return { type, data: decodeMessage(DoubleArrayValueSchema, any.value, field).data };
  }
}

/** Encodes a value as an Any with the message of its type. */
export function encodeAny(value: AttributeValue): Any {
  switch (value.type) {
    case "boolean":
      return pack(BooleanValueSchema, { data: value.data });
    case "boolean[]":
      return pack(BooleanArrayValueSchema, { data: [...value.data] });
    case "string":
      return pack(StringValueSchema, { data: value.data });
    case "string[]":
      return pack(StringArrayValueSchema, { data: [...value.data] });
    case "integer":
      return pack(IntegerValueSchema, { data: value.data });
    case "integer[]":
      return pack(IntegerArrayValueSchema, { data: [...value.data] });
    case "double":
      return pack(DoubleValueSchema, { data: value.data });
    case "double[]":
      return pack(DoubleArrayValueSchema, { data: [...value.data] });
  }
}

function pack<D extends DescMessage>(schema: D, message: MessageInitShape<D>): Any {
  return anyPack(schema, create(schema, message));
}
