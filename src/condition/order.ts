import { compareBytes } from "./bytes.ts";
import { typeOf } from "./value.ts";
import type { ListValue, MapValue, Value } from "./value.ts";

/** The work that is left. Comparing lists stops when it falls below zero. */
export interface Budget {
  steps: number;
}

/**
 * CEL equality. Numbers of different types are compared as `asComparable` converts them. Other
 * values of two types are unequal.
 */
export function equals(left: Value, right: Value, budget: Budget): boolean {
  budget.steps -= 1;
  if (isNumber(left) && isNumber(right)) {
    const [first, second] = asComparable(left, right);
    return first === second;
  }
  if (typeof left !== "object" || typeof right !== "object") return left === right;
  if (left === null || right === null) return left === right;
  switch (left.kind) {
    case "list":
      return right.kind === "list" && listEquals(left, right, budget);
    case "map":
      return right.kind === "map" && mapEquals(left, right, budget);
    case "bytes":
      return right.kind === "bytes" && compareBytes(left.data, right.data) === 0;
    case "timestamp":
    case "duration":
      return right.kind === left.kind && right.nanoseconds === left.nanoseconds;
    case "type":
      return right.kind === "type" && right.name === left.name;
  }
}

/**
 * Negative, zero or positive. NaN if the values have no order (NaN itself). Undefined if the types
 * cannot be compared.
 */
export function compare(left: Value, right: Value): number | undefined {
  if (isNumber(left) && isNumber(right)) {
    const [first, second] = asComparable(left, right);
    if (first < second) return -1;
    if (first > second) return 1;
    return first === second ? 0 : Number.NaN;
  }
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (typeof left !== "object" || typeof right !== "object") return undefined;
  if (left === null || right === null) return undefined;
  if (left.kind === "bytes" && right.kind === "bytes") {
    return compareBytes(left.data, right.data);
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

/** `element in container`. Undefined if the container is neither a list nor a map. */
export function contains(container: Value, element: Value, budget: Budget): boolean | undefined {
  if (typeof container !== "object" || container === null) return undefined;
  if (container.kind === "list") return isMember(container, element, budget);
  if (container.kind === "map") return lookUp(container, element) !== undefined;
  return undefined;
}

/** The entry of a key. A whole double stands for the equal int. */
export function lookUp(map: MapValue, key: Value): Value | undefined {
  return map.get(typeof key === "number" && Number.isInteger(key) ? BigInt(key) : key);
}

/** If the other number is a double, an int is compared as the nearest double. */
function asComparable(
  left: number | bigint,
  right: number | bigint,
): readonly [bigint, bigint] | readonly [number, number] {
  if (typeof left === "bigint" && typeof right === "bigint") return [left, right];
  return [Number(left), Number(right)];
}

function isNumber(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/**
 * Compares by code points. Comparing UTF-16 units would put characters beyond the base plane too
 * early.
 */
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

function isMember(list: ListValue, element: Value, budget: Budget): boolean {
  return list.items.some((item) => budget.steps >= 0 && equals(item, element, budget));
}

function listEquals(left: ListValue, right: ListValue, budget: Budget): boolean {
  if (left.items.length !== right.items.length) return false;
  return left.items.every((item, index) => {
    const other = right.items[index];
    return budget.steps >= 0 && other !== undefined && equals(item, other, budget);
  });
}

function mapEquals(left: MapValue, right: MapValue, budget: Budget): boolean {
  if (left.size !== right.size) return false;
  for (const key of left.keys()) {
    const mine = left.get(key);
    const other = right.get(key);
    if (mine === undefined || other === undefined || budget.steps < 0) return false;
    if (!equals(mine, other, budget)) return false;
  }
  return true;
}

/** Describes a clash of types for a message, such as `int < string`. */
export function clash(left: Value, operator: string, right: Value): string {
  return `no such overload: ${typeOf(left)} ${operator} ${typeOf(right)}`;
}
