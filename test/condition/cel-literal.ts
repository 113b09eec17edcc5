import type { Value } from "@bufbuild/cel-spec/cel/expr/value_pb.js";
import { toJsonString } from "@bufbuild/protobuf";
import { type Any, anyUnpack, DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";

/** A value of a conformance case as an expression of CEL; undefined for one that has no literal. */
export function celLiteral({ kind }: Value): string | undefined {
  switch (kind.case) {
    case "nullValue":
      return "null";
    case "boolValue":
      return String(kind.value);
    case "uint64Value":
      return `${kind.value}u`;
    case "int64Value":
      return String(kind.value);
    case "doubleValue":
      return doubleLiteral(kind.value);
    case "stringValue":
      return JSON.stringify(kind.value);
    case "bytesValue":
      return `b'${[...kind.value].map(hexEscape).join("")}'`;
    case "typeValue":
      return kind.value;
    case "listValue":
      return joined(kind.value.values.map(celLiteral), ["[", "]"]);
    case "mapValue":
      return joined(
        kind.value.entries.map(({ key, value }) => {
          const pair = [key, value].map((one) => one && celLiteral(one));
          return pair.includes(undefined) ? undefined : pair.join(": ");
        }),
        ["{", "}"],
      );
    case "objectValue":
      return timeLiteral(kind.value);
    default:
      return undefined;
  }
}

function timeLiteral(any: Any): string | undefined {
  const timestamp = anyUnpack(any, TimestampSchema);
  if (timestamp !== undefined) return `timestamp(${toJsonString(TimestampSchema, timestamp)})`;
  const duration = anyUnpack(any, DurationSchema);
  return duration && `duration(${toJsonString(DurationSchema, duration)})`;
}

function hexEscape(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}

function doubleLiteral(value: number): string {
  if (Number.isNaN(value)) return "double('NaN')";
  if (!Number.isFinite(value)) return `double('${value > 0 ? "" : "-"}Infinity')`;
  const text = Object.is(value, -0) ? "-0" : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function joined(
  parts: readonly (string | undefined)[],
  [open, close]: readonly [string, string],
): string | undefined {
  return parts.includes(undefined) ? undefined : `${open}${parts.join(", ")}${close}`;
}
