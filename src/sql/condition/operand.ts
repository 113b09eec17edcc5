import { unreachable } from "../../base/assert.ts";
import type { StaticType } from "../../condition/static-type.ts";
import type { Literal } from "../../condition/tree.ts";
import { type Fragment, literal, sql, truth } from "../text/fragment.ts";
import { doubleLiteral, type ElementKind, NoTranslation, type SqlValue } from "./value.ts";

/** The value of a literal of a rule. */
export function literalValue(value: Literal): SqlValue {
  const common = { simple: true, total: true };
  switch (value.kind) {
    case "bool":
      return { kind: "bool", sql: truth(value.value), ...common };
    case "int":
      return { kind: "int", sql: sql`${literal(String(value.value))}::bigint`, ...common };
    case "double":
      return { kind: "double", nan: false, sql: doubleLiteral(value.value), ...common };
    case "string":
      if (value.value.includes("\0")) throw new NoTranslation("a string with a NUL character");
      return { kind: "string", sql: sql`${literal(value.value)}::text`, ...common };
    case "null":
      return { kind: "null", sql: sql`'null'::jsonb`, ...common };
    case "bytes":
    case "type":
      throw new NoTranslation(`a value of type ${value.kind}`);
    default:
      return unreachable(value);
  }
}

/** The value in the column of a parameter. */
export function parameterValue(type: StaticType, column: Fragment): SqlValue {
  const common = { sql: column, simple: true, total: true };
  switch (type.kind) {
    case "bool":
    case "int":
    case "string":
      return { kind: type.kind, ...common };
    case "double":
      return { kind: "double", nan: true, ...common };
    case "list":
      return { kind: "list", element: elementKind(type.element), ...common };
    case "bytes":
    case "null":
    case "type":
    case "dyn":
    case "timestamp":
    case "duration":
    case "map":
      throw new NoTranslation(`a parameter of type ${type.kind}`);
    default:
      return unreachable(type);
  }
}

function elementKind({ kind }: StaticType): ElementKind {
  if (kind === "bool" || kind === "int" || kind === "double" || kind === "string") return kind;
  throw new NoTranslation(`a list of ${kind}`);
}
