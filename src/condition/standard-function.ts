import type { Steps } from "../base/steps.ts";
import { toBool, toBytes, toDouble, toDuration, toInt, toText, toTimestamp } from "./conversion.ts";
import { matches } from "./pattern.ts";
import { containsText } from "./search-text.ts";
import type { FunctionName, MethodName } from "./standard-library.ts";
import { durationPart, timestampPart } from "./time-part.ts";
import { fault, typeOf } from "./value.ts";
import type { Outcome, Value } from "./value.ts";
import type { Work } from "./work.ts";

/** `name(values)`. The checker has verified the number of values. A dyn may have any type. */
export function callFunction(name: FunctionName, values: readonly Value[], work: Work): Outcome {
  const [value, second] = values;
  if (value === undefined) return noOverload(name, values);
  if (name === "matches") {
    return typeof value === "string" && typeof second === "string"
      ? matches(value, second, work)
      : noOverload(name, values);
  }
  switch (name) {
    case "bool":
      return toBool(value);
    case "bytes":
      return toBytes(value);
    case "double":
      return toDouble(value);
    case "duration":
      return toDuration(value);
    case "dyn":
      return value;
    case "int":
      return toInt(value);
    case "size":
      return sizeOf(value);
    case "string":
      return toText(value);
    case "timestamp":
      return toTimestamp(value);
    case "type":
      return typeValue(value);
  }
}

/** `receiver.name(values)`. */
export function* callMethod(
  name: MethodName,
  [receiver, ...values]: readonly [Value, ...(readonly Value[])],
  work: Work,
): Steps<Outcome> {
  switch (name) {
    case "size":
      return values.length === 0 ? sizeOf(receiver) : noMethod(name, receiver, values);
    case "contains":
    case "startsWith":
    case "endsWith":
    case "matches":
      return yield* searchText(name, [receiver, ...values], work);
    case "getDate":
    case "getDayOfMonth":
    case "getDayOfWeek":
    case "getDayOfYear":
    case "getFullYear":
    case "getHours":
    case "getMilliseconds":
    case "getMinutes":
    case "getMonth":
    case "getSeconds": {
      const [zone = "UTC"] = values;
      if (typeof receiver === "object" && receiver !== null && typeof zone === "string") {
        if (receiver.kind === "timestamp") return timestampPart(name, receiver.nanoseconds, zone);
        if (receiver.kind === "duration" && values.length === 0) {
          const part = durationPart(name, receiver.nanoseconds);
          if (part !== undefined) return part;
        }
      }
      return noMethod(name, receiver, values);
    }
  }
}

function* searchText(
  name: "contains" | "startsWith" | "endsWith" | "matches",
  [receiver, ...values]: readonly [Value, ...(readonly Value[])],
  work: Work,
): Steps<Outcome> {
  const [part] = values;
  if (typeof receiver !== "string" || typeof part !== "string") {
    return noMethod(name, receiver, values);
  }
  switch (name) {
    case "contains":
      return yield* containsText(receiver, part, work.pace);
    case "startsWith":
      return receiver.startsWith(part);
    case "endsWith":
      return receiver.endsWith(part);
    case "matches":
      return matches(receiver, part, work);
  }
}

/** The size: code points of a string, bytes of bytes, elements of a list, entries of a map. */
function sizeOf(value: Value): Outcome {
  if (typeof value === "string") return BigInt(codePointsOf(value));
  if (typeof value === "object" && value !== null) {
    if (value.kind === "list") return BigInt(value.items.length);
    if (value.kind === "map") return BigInt(value.size);
    if (value.kind === "bytes") return BigInt(value.data.length);
  }
  return noOverload("size", [value]);
}

/** To go through a long text by its iterator takes fifty times as long. */
function codePointsOf(text: string): number {
  let size = text.length;
  for (let index = 1; index < text.length; index++) {
    if (isLow(text.charCodeAt(index)) && isHigh(text.charCodeAt(index - 1))) size--;
  }
  return size;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function typeValue(value: Value): Value {
  const name = typeOf(value);
  switch (name) {
    case "timestamp":
      return { kind: "type", name: "google.protobuf.Timestamp" };
    case "duration":
      return { kind: "type", name: "google.protobuf.Duration" };
    default:
      return { kind: "type", name };
  }
}

function noOverload(name: string, values: readonly Value[]): Outcome {
  return fault(`no such overload: ${name}(${values.map(typeOf).join(", ")})`);
}

function noMethod(name: string, receiver: Value, values: readonly Value[]): Outcome {
  return noOverload(`${typeOf(receiver)}.${name}`, values);
}
