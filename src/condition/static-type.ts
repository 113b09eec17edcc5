import type { AttributeType } from "../base/tuple.ts";

/** What the checker knows about a part of a rule before it runs. `dyn` is decided at run time. */
export type StaticType =
  | { readonly kind: ScalarKind }
  | { readonly kind: "list"; readonly element: StaticType }
  | { readonly kind: "map"; readonly key: StaticType; readonly value: StaticType };

const scalars = {
  bool: "bool",
  int: "int",
  double: "double",
  string: "string",
  bytes: "bytes",
  null: "null",
  type: "type",
  dyn: "dyn",
  "google.protobuf.Timestamp": "timestamp",
  "google.protobuf.Duration": "duration",
} as const;

type ScalarKind = (typeof scalars)[keyof typeof scalars];

export const dynType: StaticType = { kind: "dyn" };
export const boolType: StaticType = { kind: "bool" };
export const jsonObjectType: StaticType = {
  kind: "map",
  key: { kind: "string" },
  value: dynType,
};

const scalarKinds: ReadonlyMap<string, ScalarKind> = new Map(Object.entries(scalars));

/**
 * Reads a type in the checker's spelling, such as `map<string, list<int>>`. An open type variable
 * (the element of `[]`) is dyn. Undefined if rules do not support the type.
 */
export function parseStaticType(name: string): StaticType | undefined {
  const scalar = scalarKinds.get(name);
  if (scalar !== undefined) return { kind: scalar };
  if (/^[A-Z]$/.test(name) || name.startsWith("dyn<")) return dynType;
  if (name === "list") return { kind: "list", element: dynType };
  if (name === "map") return { kind: "map", key: dynType, value: dynType };
  const generic = /^(list|map)<(.+)>$/s.exec(name);
  const inner = generic?.[2];
  if (inner === undefined) return undefined;
  if (generic?.[1] === "list") {
    const element = parseStaticType(inner);
    return element === undefined ? undefined : { kind: "list", element };
  }
  // Keys are scalars, so the first comma ends the key.
  const comma = inner.indexOf(", ");
  const key = parseStaticType(inner.slice(0, comma));
  const value = parseStaticType(inner.slice(comma + 2));
  return key === undefined || value === undefined ? undefined : { kind: "map", key, value };
}

/** The checker's spelling of a parameter's type. */
export const parameterTypes = {
  boolean: "bool",
  "boolean[]": "list<bool>",
  string: "string",
  "string[]": "list<string>",
  integer: "int",
  "integer[]": "list<int>",
  double: "double",
  "double[]": "list<double>",
} as const satisfies Record<AttributeType, string>;
