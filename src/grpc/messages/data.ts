import type { Attribute } from "../../gen/base/v1/tuple_pb.ts";
import type { RawAttribute } from "../../service/request-data.ts";
import { decodeAny } from "./any.ts";

/** Reads the values of attributes; `list` is where they stand in the request. */
export function decodeAttributes(
  attributes: readonly Attribute[],
  list: string,
): readonly RawAttribute[] {
  return attributes.map(({ entity, attribute, value }, index) => ({
    entity,
    attribute,
    value: decodeAny(value, `${list}[${index}].value`),
  }));
}
