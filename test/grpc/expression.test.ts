import assert from "node:assert/strict";
import { test } from "node:test";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";

import type { AttributeType } from "../../src/base/tuple.ts";
import { compileCondition } from "../../src/condition/compile.ts";
import { functionNames, methodNames } from "../../src/condition/standard-library.ts";
import {
  type CheckedExpr,
  CheckedExprSchema,
  type Type,
  Type_PrimitiveType as Primitive,
} from "../../src/gen/google/api/expr/v1alpha1/checked_pb.ts";
import type { Expr } from "../../src/gen/google/api/expr/v1alpha1/syntax_pb.ts";
import { encodeCondition } from "../../src/messages/expression/encode.ts";

/*
 * Rules are encoded, written as bytes, read back and printed: a call as its overloads with its
 * arguments, every node with its type behind a colon, nothing for dyn.
 */

const parameters: ReadonlyMap<string, AttributeType> = new Map([
  ["b", "boolean"],
  ["i", "integer"],
  ["d", "double"],
  ["s", "string"],
  ["is", "integer[]"],
  ["ss", "string[]"],
]);

const I = "i:int64";
const X = "context.data.x";

const printed: readonly (readonly [rule: string, tree: string])[] = [
  ["b", "b:bool"],
  ["!b", "logical_not(b:bool):bool"],
  ["b && b", "logical_and(b:bool, b:bool):bool"],
  ["b || b", "logical_or(b:bool, b:bool):bool"],
  ["b ? b : !b", "conditional(b:bool, b:bool, logical_not(b:bool):bool):bool"],
  ["i == 1", `equals(${I}, 1:int64):bool`],
  ["s != 'x'", `not_equals(s:string, "x":string):bool`],
  ["i < -3", `less_int64(${I}, -3:int64):bool`],
  ["d <= 0.5", "less_equals_double(d:double, 0.5:double):bool"],
  ["s > 'a'", `greater_string(s:string, "a":string):bool`],
  ["b >= false", "greater_equals_bool(b:bool, false:bool):bool"],
  ["b'\\x01' < b'\\x02'", "less_bytes(01:bytes, 02:bytes):bool"],
  ["i + 1 == 2", `equals(add_int64(${I}, 1:int64):int64, 2:int64):bool`],
  ["d - 1.0 == d", "equals(subtract_double(d:double, 1:double):double, d:double):bool"],
  ["i * i == i", `equals(multiply_int64(${I}, ${I}):int64, ${I}):bool`],
  ["d / d == d", "equals(divide_double(d:double, d:double):double, d:double):bool"],
  ["i % 2 == 0", `equals(modulo_int64(${I}, 2:int64):int64, 0:int64):bool`],
  ["-i == i", `equals(negate_int64(${I}):int64, ${I}):bool`],
  ["-d == d", "equals(negate_double(d:double):double, d:double):bool"],
  ["s + s == s", "equals(add_string(s:string, s:string):string, s:string):bool"],
  [
    "is + is == is",
    "equals(add_list(is:list<int64>, is:list<int64>):list<int64>, is:list<int64>):bool",
  ],
  ["is[0] == i", `equals(index_list(is:list<int64>, 0:int64):int64, ${I}):bool`],
  ["i in is", `in_list(${I}, is:list<int64>):bool`],
  ["s in {'a': 1}", `in_map(s:string, {"a":string: 1:int64}:map<string, int64>):bool`],
  [
    "size(is) == is.size()",
    "equals(size_list(is:list<int64>):int64, list_size(is:list<int64>):int64):bool",
  ],
  ["s.startsWith('a')", `starts_with_string(s:string, "a":string):bool`],
  ["s.endsWith('a')", `ends_with_string(s:string, "a":string):bool`],
  ["s.contains('a')", `contains_string(s:string, "a":string):bool`],
  ["s.matches('a')", `matches_string(s:string, "a":string):bool`],
  ["matches(s, 'a')", `matches(s:string, "a":string):bool`],
  ["int(s) == i", `equals(string_to_int64(s:string):int64, ${I}):bool`],
  ["double(i) == d", `equals(int64_to_double(${I}):double, d:double):bool`],
  ["string(d) == s", "equals(double_to_string(d:double):string, s:string):bool"],
  ["bool(s)", "string_to_bool(s:string):bool"],
  ["bytes(s) == b''", "equals(string_to_bytes(s:string):bytes, :bytes):bool"],
  ["dyn(b) == b", "equals(to_dyn(b:bool), b:bool):bool"],
  ["type(i) == int", `equals(type(${I}):type, int:type):bool`],
  [
    "timestamp(s) - duration('1s') < timestamp(i)",
    `less_timestamp(subtract_timestamp_duration(string_to_timestamp(s:string):TIMESTAMP, string_to_duration("1s":string):DURATION):TIMESTAMP, int64_to_timestamp(${I}):TIMESTAMP):bool`,
  ],
  [
    "timestamp(s).getHours('UTC') == duration(s).getHours()",
    `equals(timestamp_to_hours_with_tz(string_to_timestamp(s:string):TIMESTAMP, "UTC":string):int64, duration_to_hours(string_to_duration(s:string):DURATION):int64):bool`,
  ],
  ["context.data.x == null", `equals(${X}, null:null):bool`],
  ["has(context.data.x.y)", `has(${X}.y):bool`],
  ["context.data['x'] == 1", `equals(index_map(context.data, "x":string), 1:int64):bool`],
  ["context.data.x < 1", `less_int64(${X}, 1:int64):bool`],
  [
    "is.all(n, n > i)",
    `fold(n in is:list<int64>; @result = true:bool; not_strictly_false(@result:bool):bool; logical_and(@result:bool, greater_int64(n:int64, ${I}):bool):bool; @result:bool):bool`,
  ],
  [
    "is.exists(n, n == 1)",
    "fold(n in is:list<int64>; @result = false:bool; not_strictly_false(logical_not(@result:bool):bool):bool; logical_or(@result:bool, equals(n:int64, 1:int64):bool):bool; @result:bool):bool",
  ],
  [
    "is.exists_one(n, n == 1)",
    "fold(n in is:list<int64>; @result = 0:int64; true:bool; conditional(equals(n:int64, 1:int64):bool, add_int64(@result:int64, 1:int64):int64, @result:int64):int64; equals(@result:int64, 1:int64):bool):bool",
  ],
  [
    "is.filter(n, n == 1) == []",
    "equals(fold(n in is:list<int64>; @result = []:list<int64>; true:bool; conditional(equals(n:int64, 1:int64):bool, add_list(@result:list<int64>, [n:int64]:list<int64>):list<int64>, @result:list<int64>):list<int64>; @result:list<int64>):list<int64>, []:list):bool",
  ],
  [
    "ss.map(t, size(t)) == is",
    "equals(fold(t in ss:list<string>; @result = []:list<int64>; true:bool; add_list(@result:list<int64>, [size_string(t:string):int64]:list<int64>):list<int64>; @result:list<int64>):list<int64>, is:list<int64>):bool",
  ],
];

test("every operator is exchanged as CEL tools know it", () => {
  const found = printed.map(([rule]) => [rule, print(encoded(rule))]);
  assert.deepEqual(found, printed);
});

test("every function and method of the library has an overload for what it takes", () => {
  const arguments_: Readonly<Record<string, string>> = { matches: "s, s", type: "s", size: "s" };
  const calls = [
    ...functionNames.map((name) => `${name}(${arguments_[name] ?? "s"})`),
    ...methodNames.map((name) =>
      name.startsWith("get")
        ? `timestamp(s).${name}()`
        : `s.${name}(${name === "size" ? "" : "s"})`,
    ),
  ];
  for (const call of calls) {
    const { referenceMap, expr } = encoded(`dyn(${call}) == null`);
    assert.equal(expr?.exprKind.case, "callExpr");
    for (const [id, { name, overloadId }] of Object.entries(referenceMap)) {
      assert.ok(
        name !== "" || overloadId.length === 1,
        `${call}: node ${id} has ${overloadId.length} overloads`,
      );
    }
  }
});

test("a call on what is only known when it runs has all overloads that are possible", () => {
  assert.deepEqual(overloadsAtRoot("context.data.x < context.data.y"), [
    "less_bool",
    "less_int64",
    "less_uint64",
    "less_double",
    "less_string",
    "less_bytes",
    "less_timestamp",
    "less_duration",
  ]);
  assert.deepEqual(overloadsAtRoot("i in context.data.x"), ["in_list", "in_map"]);
});

test("nodes have ids of their own and stand where they are written, in characters", () => {
  const { sourceInfo, expr } = encoded('s == "😀" &&\n  b');
  assert.deepEqual(sourceInfo?.lineOffsets, [11]);
  assert.ok(expr?.exprKind.case === "callExpr");
  const [, second] = expr.exprKind.value.args;
  assert.equal(sourceInfo?.positions[String(second?.id)], 14);
  const ids = Object.keys(sourceInfo?.positions ?? {});
  assert.equal(new Set(ids).size, 5);
});

test("a long chain becomes a tree of small depth", () => {
  const checked = encoded(Array.from({ length: 200 }, () => "b").join(" && "));
  assert.ok(depthOf(checked.expr) <= 9);
});

function encoded(rule: string): CheckedExpr {
  const outcome = compileCondition(rule, parameters);
  assert.ok(outcome.ok, outcome.ok ? "" : `${rule}: ${outcome.message}`);
  const message = create(CheckedExprSchema, encodeCondition(outcome.condition));
  return fromBinary(CheckedExprSchema, toBinary(CheckedExprSchema, message));
}

function overloadsAtRoot(rule: string): readonly string[] | undefined {
  const { expr, referenceMap } = encoded(rule);
  return referenceMap[String(expr?.id)]?.overloadId;
}

function depthOf(expr: Expr | undefined): number {
  if (expr?.exprKind.case !== "callExpr") return 1;
  return 1 + Math.max(...expr.exprKind.value.args.map(depthOf));
}

function print(checked: CheckedExpr, expr = checked.expr): string {
  assert.ok(expr);
  const type = checked.typeMap[String(expr.id)];
  return `${content(checked, expr)}${type === undefined ? "" : `:${typeText(type)}`}`;
}

function content(checked: CheckedExpr, expr: Expr): string {
  const show = (part: Expr | undefined): string => print(checked, part);
  const reference = checked.referenceMap[String(expr.id)];
  const kind = expr.exprKind;
  switch (kind.case) {
    case "constExpr":
      return constantText(kind.value.constantKind.value);
    case "identExpr":
      assert.equal(reference?.name, kind.value.name);
      return kind.value.name;
    case "selectExpr": {
      const path = `${show(kind.value.operand)}.${kind.value.field}`;
      return kind.value.testOnly ? `has(${path})` : path;
    }
    case "callExpr": {
      const { target, args } = kind.value;
      const all = target === undefined ? args : [target, ...args];
      return `${reference?.overloadId.join("|")}(${all.map(show).join(", ")})`;
    }
    case "listExpr":
      return `[${kind.value.elements.map(show).join(", ")}]`;
    case "structExpr":
      return `{${kind.value.entries.map(({ keyKind, value }) => `${keyKind.case === "mapKey" ? show(keyKind.value) : "?"}: ${show(value)}`).join(", ")}}`;
    case "comprehensionExpr": {
      const { iterVar, iterRange, accuVar, accuInit, loopCondition, loopStep, result } = kind.value;
      const parts = [loopCondition, loopStep, result].map(show).join("; ");
      return `fold(${iterVar} in ${show(iterRange)}; ${accuVar} = ${show(accuInit)}; ${parts})`;
    }
    case undefined:
      return assert.fail("a node without content");
  }
}

function constantText(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value === "string") return JSON.stringify(value);
  return value === 0 ? "null" : String(value);
}

function typeText({ typeKind }: Type): string {
  switch (typeKind.case) {
    case "primitive":
      return primitiveNames.get(typeKind.value) ?? "?";
    case "wellKnown":
      return typeKind.value === 2 ? "TIMESTAMP" : "DURATION";
    case "listType": {
      const element = typeKind.value.elemType;
      return element?.typeKind.case === "dyn"
        ? "list"
        : `list<${element === undefined ? "?" : typeText(element)}>`;
    }
    case "mapType": {
      const { keyType, valueType } = typeKind.value;
      assert.ok(keyType && valueType);
      return `map<${typeText(keyType)}, ${typeText(valueType)}>`;
    }
    default:
      return typeKind.case ?? "?";
  }
}

const primitiveNames: ReadonlyMap<number, string> = new Map(
  Object.entries(Primitive).map(([name, number]) => [number, name.toLowerCase()]),
);
