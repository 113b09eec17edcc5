import type { MessageInitShape } from "@bufbuild/protobuf";

import type { Attribute, Tuple } from "../base/tuple.ts";
import type {
  Attribute as AttributeMessage,
  AttributeSchema,
  TupleSchema,
} from "../gen/base/v1/tuple_pb.ts";
import type { RawAttribute } from "../service/request-data.ts";
import { decodeAny, encodeAny } from "./any.ts";

/** Decodes the values of attributes. `list` is their path in the request. */
export function decodeAttributes(
  attributes: readonly AttributeMessage[],
  list: string,
): readonly RawAttribute[] {
  return attributes.map(({ entity, attribute, value }, index) => ({
    entity,
    attribute,
    value: decodeAny(value, `${list}[${index}].value`),
  }));
}

export function encodeTuple({
  entity,
  relation,
  subject,
}: Tuple): MessageInitShape<typeof TupleSchema> {
  return { entity, relation, subject };
}

export function encodeAttribute({
  entity,
  attribute,
  value,
}: Attribute): MessageInitShape<typeof AttributeSchema> {
  return { entity, attribute, value: encodeAny(value) };
}
