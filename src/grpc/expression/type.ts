import type { MessageInitShape } from "@bufbuild/protobuf";
import { NullValue } from "@bufbuild/protobuf/wkt";

import type { StaticType } from "../../condition/static-type.ts";
import {
  type TypeSchema,
  Type_PrimitiveType as Primitive,
  Type_WellKnownType as WellKnown,
} from "../../gen/google/api/expr/v1alpha1/checked_pb.ts";

type Type = MessageInitShape<typeof TypeSchema>;

/** A type as CEL tools spell it. */
export function encodeType(type: StaticType): Type {
  switch (type.kind) {
    case "bool":
      return primitive(Primitive.BOOL);
    case "int":
      return primitive(Primitive.INT64);
    case "double":
      return primitive(Primitive.DOUBLE);
    case "string":
      return primitive(Primitive.STRING);
    case "bytes":
      return primitive(Primitive.BYTES);
    case "null":
      return { typeKind: { case: "null", value: NullValue.NULL_VALUE } };
    case "type":
      return { typeKind: { case: "type", value: {} } };
    case "dyn":
      return { typeKind: { case: "dyn", value: {} } };
    case "timestamp":
      return { typeKind: { case: "wellKnown", value: WellKnown.TIMESTAMP } };
    case "duration":
      return { typeKind: { case: "wellKnown", value: WellKnown.DURATION } };
    case "list":
      return {
        typeKind: { case: "listType", value: { elemType: encodeType(type.element) } },
      };
    case "map":
      return {
        typeKind: {
          case: "mapType",
          value: { keyType: encodeType(type.key), valueType: encodeType(type.value) },
        },
      };
  }
}

function primitive(value: Primitive): Type {
  return { typeKind: { case: "primitive", value } };
}
