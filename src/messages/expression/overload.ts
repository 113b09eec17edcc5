import type { StaticType } from "../../condition/static-type.ts";

/** The type of a parameter. Only a dyn can be `uint` at run time. */
type Parameter = StaticType["kind"] | "uint" | "any";

/**
 * An overload: its id in CEL tools and its parameters. For a method, the receiver is the first one.
 */
type Overload = readonly [id: string, ...parameters: readonly Parameter[]];

const ordered = [
  "bool",
  "int",
  "uint",
  "double",
  "string",
  "bytes",
  "timestamp",
  "duration",
] as const;

/** Type names in overload ids, where they differ. */
const spelled: Readonly<Partial<Record<Parameter, string>>> = { int: "int64", uint: "uint64" };

function spell(kind: Parameter): string {
  return spelled[kind] ?? kind;
}

/** Overloads such as `less_int64`. */
function comparison(name: string): readonly Overload[] {
  return ordered.map((kind) => [`${name}_${spell(kind)}`, kind, kind]);
}

function arithmetic(name: string, kinds: readonly Parameter[]): readonly Overload[] {
  return kinds.map((kind) => [`${name}_${spell(kind)}`, kind, kind]);
}

/** Overloads such as `string_to_int64`. */
function conversion(to: Parameter, from: readonly Parameter[]): readonly Overload[] {
  return from.map((kind) => [`${spell(kind)}_to_${spell(to)}`, kind]);
}

/** Overloads for a part of a time, in UTC or in a given zone. */
function timePart(part: string, hasDuration = false): readonly Overload[] {
  return [
    [`timestamp_to_${part}`, "timestamp"],
    [`timestamp_to_${part}_with_tz`, "timestamp", "string"],
    ...(hasDuration ? [[`duration_to_${part}`, "duration"] as const] : []),
  ];
}

const numbers = ["int", "uint", "double"] as const;

/** The overloads of operators and functions, by function name. */
const functions: Readonly<Record<string, readonly Overload[]>> = {
  "_&&_": [["logical_and", "bool", "bool"]],
  "_||_": [["logical_or", "bool", "bool"]],
  "!_": [["logical_not", "bool"]],
  "@not_strictly_false": [["not_strictly_false", "bool"]],
  "_?_:_": [["conditional", "bool", "any", "any"]],
  "_==_": [["equals", "any", "any"]],
  "_!=_": [["not_equals", "any", "any"]],
  "_<_": comparison("less"),
  "_<=_": comparison("less_equals"),
  "_>_": comparison("greater"),
  "_>=_": comparison("greater_equals"),
  "_+_": [
    ...arithmetic("add", ["bytes", "double", "int", "list", "string", "uint"]),
    ["add_duration_duration", "duration", "duration"],
    ["add_duration_timestamp", "duration", "timestamp"],
    ["add_timestamp_duration", "timestamp", "duration"],
  ],
  "_-_": [
    ...arithmetic("subtract", numbers),
    ["subtract_duration_duration", "duration", "duration"],
    ["subtract_timestamp_duration", "timestamp", "duration"],
    ["subtract_timestamp_timestamp", "timestamp", "timestamp"],
  ],
  "_*_": arithmetic("multiply", numbers),
  "_/_": arithmetic("divide", numbers),
  "_%_": arithmetic("modulo", ["int", "uint"]),
  "-_": [
    ["negate_double", "double"],
    ["negate_int64", "int"],
  ],
  "_[_]": [
    ["index_list", "list", "int"],
    ["index_map", "map", "any"],
  ],
  "@in": [
    ["in_list", "any", "list"],
    ["in_map", "any", "map"],
  ],
  bool: conversion("bool", ["bool", "string"]),
  bytes: conversion("bytes", ["bytes", "string"]),
  double: conversion("double", ["double", "int", "string", "uint"]),
  duration: conversion("duration", ["duration", "string"]),
  dyn: [["to_dyn", "any"]],
  int: conversion("int", ["double", "duration", "int", "string", "timestamp", "uint"]),
  matches: [["matches", "string", "string"]],
  size: (["bytes", "list", "map", "string"] as const).map((kind) => [`size_${kind}`, kind]),
  string: conversion("string", [...ordered]),
  timestamp: conversion("timestamp", ["int", "string", "timestamp"]),
  type: [["type", "any"]],
};

/** The overloads of methods, by method name. */
const methods: Readonly<Record<string, readonly Overload[]>> = {
  contains: [["contains_string", "string", "string"]],
  endsWith: [["ends_with_string", "string", "string"]],
  startsWith: [["starts_with_string", "string", "string"]],
  matches: [["matches_string", "string", "string"]],
  size: (["bytes", "list", "map", "string"] as const).map((kind) => [`${kind}_size`, kind]),
  getFullYear: timePart("year"),
  getMonth: timePart("month"),
  getDate: timePart("day_of_month_1_based"),
  getDayOfMonth: timePart("day_of_month"),
  getDayOfWeek: timePart("day_of_week"),
  getDayOfYear: timePart("day_of_year"),
  getHours: timePart("hours", true),
  getMinutes: timePart("minutes", true),
  getSeconds: timePart("seconds", true),
  getMilliseconds: timePart("milliseconds", true),
};

/** The overloads of a function that fit the types of its arguments. */
export function overloadsOf(name: string, types: readonly StaticType[]): string[] {
  return possible(functions[name] ?? [], types);
}

/** The same for a method. The first type is the receiver. */
export function methodOverloadsOf(name: string, types: readonly StaticType[]): string[] {
  return possible(methods[name] ?? [], types);
}

function possible(overloads: readonly Overload[], types: readonly StaticType[]): string[] {
  return overloads
    .filter(([, ...parameters]) => parameters.length === types.length)
    .filter(([, ...parameters]) =>
      types.every(({ kind }, index) => {
        const parameter = parameters[index];
        return kind === "dyn" || parameter === "any" || parameter === kind;
      }),
    )
    .map(([id]) => id);
}
