import type { AttributeType, AttributeValue, JsonValue } from "../base/tuple.ts";
import type { ConditionTree, Literal } from "./tree.ts";

/** A CEL value at run time: an int is a bigint, a double a number. */
export type Value =
  | boolean
  | bigint
  | number
  | string
  | null
  | { readonly kind: "bytes"; readonly data: Uint8Array }
  | ListValue
  | MapValue
  /** Nanoseconds since 1970-01-01T00:00:00Z. */
  | { readonly kind: "timestamp"; readonly nanoseconds: bigint }
  | { readonly kind: "duration"; readonly nanoseconds: bigint }
  | { readonly kind: "type"; readonly name: string };

export interface ListValue {
  readonly kind: "list";
  readonly items: readonly Value[];
}

/** Keys differ by type and value, so the string `1` and the int `1` are two keys. */
export interface MapValue {
  readonly kind: "map";
  readonly size: number;
  readonly get: (key: Value) => Value | undefined;
  readonly keys: () => Iterable<Value>;
}

/** The result of an operation that has no value. `node` is the part of the rule that caused it. */
export interface Fault {
  readonly kind: "fault";
  readonly message: string;
  readonly node: ConditionTree | undefined;
  /** A map lacks the key that `node` reads. */
  readonly lacksKey?: true;
}

export type Outcome = Value | Fault;

export function fault(message: string): Fault {
  return { kind: "fault", message, node: undefined };
}

export function isFault(outcome: Outcome): outcome is Fault {
  return typeof outcome === "object" && outcome !== null && outcome.kind === "fault";
}

export type TypeName =
  | "bool"
  | "int"
  | "double"
  | "string"
  | "null_type"
  | Extract<Value, object>["kind"];

/** The name of a value's type, as CEL spells it. Timestamp and duration are short names. */
export function typeOf(value: Value): TypeName {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "double";
  if (typeof value === "string") return "string";
  return value === null ? "null_type" : value.kind;
}

export function listValue(items: readonly Value[]): ListValue {
  return { kind: "list", items };
}

/** The value of a literal of a rule. */
export function literalValue(literal: Literal): Value {
  switch (literal.kind) {
    case "null":
      return null;
    case "bytes":
      return { kind: "bytes", data: literal.value };
    case "type":
      return literal;
    case "bool":
    case "int":
    case "double":
    case "string":
      return literal.value;
  }
}

/**
 * A value of `context.data`. JSON has one kind of number, doubles, and only finite ones: others are
 * read as null, as JSON writes them. Arrays and objects are converted on first use and kept,
 * because a comprehension reads the same ones again and again.
 */
function jsonValue(json: JsonValue): Value {
  if (typeof json === "number") return Number.isFinite(json) ? json : null;
  if (typeof json !== "object" || json === null) return json;
  return isJsonArray(json) ? jsonList(json) : jsonObject(json);
}

const lists = new WeakMap<readonly JsonValue[], ListValue>();
const objects = new WeakMap<JsonObject, MapValue>();

interface JsonObject {
  readonly [key: string]: JsonValue;
}

function jsonList(json: readonly JsonValue[]): ListValue {
  const known = lists.get(json);
  if (known !== undefined) return known;
  let items: readonly Value[] | undefined;
  const list: ListValue = {
    kind: "list",
    get items() {
      return (items ??= json.map(jsonValue));
    },
  };
  lists.set(json, list);
  return list;
}

export function jsonObject(json: JsonObject): MapValue {
  const known = objects.get(json);
  if (known !== undefined) return known;
  let keys: readonly string[] | undefined;
  const readKeys = (): readonly string[] => (keys ??= Object.keys(json));
  const map: MapValue = {
    kind: "map",
    get size() {
      return readKeys().length;
    },
    get(key) {
      if (typeof key !== "string" || !Object.hasOwn(json, key)) return undefined;
      const found = json[key];
      return found === undefined ? undefined : jsonValue(found);
    },
    keys: readKeys,
  };
  objects.set(json, map);
  return map;
}

function isJsonArray(json: object): json is readonly JsonValue[] {
  return Array.isArray(json);
}

/** The value of a parameter. A fault if it does not have the type that the rule declares. */
export function parameterValue(value: AttributeValue, type: AttributeType): Outcome {
  if (value.type !== type) return fault(`expected ${type}, found ${value.type}`);
  switch (value.type) {
    case "boolean":
    case "string":
    case "double":
      return value.data;
    case "integer":
      return BigInt(value.data);
    case "integer[]":
      return listValue(value.data.map(BigInt));
    case "boolean[]":
    case "string[]":
    case "double[]":
      return listValue(value.data);
  }
}
