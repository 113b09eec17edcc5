import type { Any } from "@bufbuild/protobuf/wkt";

import type { AttributeValue } from "../../base/tuple.ts";
import {
  BooleanArrayValueSchema,
  BooleanValueSchema,
  DoubleArrayValueSchema,
  DoubleValueSchema,
  IntegerArrayValueSchema,
  IntegerValueSchema,
  StringArrayValueSchema,
  StringValueSchema,
} from "../../gen/base/v1/value_pb.ts";
import { valueTypeOf } from "../../service/value-type.ts";
import { decodeMessage } from "../message.ts";

/** Reads the message in an Any; `field` is where the Any stands. */
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
