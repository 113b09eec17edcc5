import { typeOf } from "./value.ts";
import type { ListValue, MapValue, Value } from "./value.ts";

/** CEL equality: numbers by what they count, whatever their type; else values of two types differ. */
export function equals(left: Value, right: Value): boolean {
  // The languages agree here: a bigint and a number compare by their exact values, NaN is unlike all.
  if (isNumber(left) && isNumber(right)) return left == right;
  if (typeof left !== "object" || typeof right !== "object") return left === right;
  if (left === null || right === null) return left === right;
  switch (left.kind) {
    case "list":
      return right.kind === "list" && listEquals(left, right);
    case "map":
      return right.kind === "map" && mapEquals(left, right);
    case "bytes":
      return right.kind === "bytes" && Buffer.compare(left.data, right.data) === 0;
    case "timestamp":
    case "duration":
      return right.kind === left.kind && right.nanoseconds === left.nanoseconds;
    case "type":
      return right.kind === "type" && right.name === left.name;
  }
}

/** Negative, zero or positive; NaN where no order holds (NaN itself); undefined for a type clash. */
export function compare(left: Value, right: Value): number | undefined {
  if (isNumber(left) && isNumber(right)) {
    if (left < right) return -1;
    if (left > right) return 1;
    return left == right ? 0 : Number.NaN;
  }
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (typeof left !== "object" || typeof right !== "object") return undefined;
  if (left === null || right === null) return undefined;
  if (left.kind === "bytes" && right.kind === "bytes") {
    return Buffer.compare(left.data, right.data);
  }
  if (
    (left.kind === "timestamp" && right.kind === "timestamp") ||
    (left.kind === "duration" && right.kind === "duration")
  ) {
    return (
      Number(left.nanoseconds > right.nanoseconds) - Number(left.nanoseconds < right.nanoseconds)
    );
  }
  return undefined;
}

/** `element in container`; undefined when the container is neither list nor map. */
export function contains(container: Value, element: Value): boolean | undefined {
  if (typeof container !== "object" || container === null) return undefined;
  if (container.kind === "list") return container.items.some((item) => equals(item, element));
  if (container.kind === "map") return lookUp(container, element) !== undefined;
  return undefined;
}

/** The entry of a key; a double that is whole stands for the int it equals. */
export function lookUp(map: MapValue, key: Value): Value | undefined {
  return map.get(typeof key === "number" && Number.isInteger(key) ? BigInt(key) : key);
}

function isNumber(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** By code points: UTF-16 units would put what is beyond the base plane before its last part. */
function compareText(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let index = 0; index < shorter; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a === b) continue;
    const surrogateA = a >= 0xd800 && a <= 0xdfff;
    const surrogateB = b >= 0xd800 && b <= 0xdfff;
    return surrogateA === surrogateB ? a - b : Number(surrogateA) - Number(surrogateB);
  }
  return left.length - right.length;
}

function listEquals(left: ListValue, right: ListValue): boolean {
  if (left.items.length !== right.items.length) return false;
  return left.items.every((item, index) => {
    const other = right.items[index];
    return other !== undefined && equals(item, other);
  });
}

function mapEquals(left: MapValue, right: MapValue): boolean {
  if (left.size !== right.size) return false;
  for (const key of left.keys()) {
    const mine = left.get(key);
    const other = right.get(key);
    if (mine === undefined || other === undefined || !equals(mine, other)) return false;
  }
  return true;
}

/** A sentence's part for a clash of types, such as `int < string`. */
export function clash(left: Value, operator: string, right: Value): string {
  return `no such overload: ${typeOf(left)} ${operator} ${typeOf(right)}`;
}
