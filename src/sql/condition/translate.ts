import { unreachable } from "../../base/assert.ts";
import type { FunctionName } from "../../condition/standard-library.ts";
import type { BinaryOperator, ConditionTree, LogicalOperator } from "../../condition/tree.ts";
import { type Fragment, join, literal, sql } from "../text/fragment.ts";
import { arithmetic, negation } from "./arithmetic.ts";
import { elementAt, inContainer, inElements, size } from "./collection.ts";
import { equality, order } from "./comparison.ts";
import { convertTo, isConversion } from "./conversion.ts";
import { literalValue, parameterValue } from "./operand.ts";
import { callText, matchesText } from "./text.ts";
import { isTimePart, timePart } from "./time-part.ts";
import { literalTime } from "./time.ts";
import {
  boolean,
  makeNames,
  type Names,
  NoTranslation,
  repeatOne,
  type SqlValue,
  strict,
  toBoolean,
} from "./value.ts";

export interface TranslationInput {
  /**
   * A parameter's value: boolean, bigint (of 32 bits), double precision, text collate "C", or an
   * array of those that begins at 1. Never NULL; it may be repeated, so a column or a parameter.
   */
  readonly parameter: (name: string) => Fragment;
  /** The request's `context.data` as a jsonb object; it may be repeated. */
  readonly data: Fragment;
}

export type Translation =
  /** A boolean that is what the rule evaluates to, or NULL where it faults or could take long. */
  | { readonly kind: "sql"; readonly expression: Fragment }
  | { readonly kind: "untranslatable"; readonly reason: string };

/** Beyond it, the statement could run Postgres out of its stack. */
const deepest = 40;

/**
 * A rule as an SQL expression. It gives what `evaluate` gives, for all values, and no value makes
 * it raise an error: `and`, `or` and `not` have the logic of CEL, with NULL for a fault, and every
 * operation that could fail is guarded. What could take long is NULL, too, and left to the interpreter. A rule without
 * such an expression is untranslatable.
 */
export function translateCondition(tree: ConditionTree, input: TranslationInput): Translation {
  const translator = { input, names: makeNames(), depth: 0 };
  try {
    return { kind: "sql", expression: sql`(${toBoolean(translate(tree, translator))})` };
  } catch (error) {
    if (error instanceof NoTranslation) return { kind: "untranslatable", reason: error.message };
    throw error;
  }
}

interface Translator {
  readonly input: TranslationInput;
  readonly names: Names;
  readonly depth: number;
}

function translate(node: ConditionTree, outer: Translator): SqlValue {
  if (outer.depth > deepest) throw new NoTranslation("it is nested too deeply");
  const translator = { ...outer, depth: outer.depth + 1 };
  const { names, input } = translator;
  const inner = (part: ConditionTree): SqlValue => translate(part, translator);
  switch (node.kind) {
    case "literal":
      return literalValue(node.value);
    case "parameter":
      return parameterValue(node.type, input.parameter(node.name));
    case "data":
      return { kind: "json", sql: input.data, simple: true, total: true };
    case "select":
      return select(inner(node.operand), node.field);
    case "has":
      return has(names, inner(node.operand), node.field);
    case "index":
      return elementAt(names, inner(node.operand), inner(node.index));
    case "unary": {
      const operand = inner(node.operand);
      if (node.operator === "-") return negation(names, operand);
      return boolean(sql`(not ${toBoolean(operand)})`, isTotal(operand));
    }
    case "logical":
      return logical(node.operator, node.operands.map(inner));
    case "binary":
      return binary(node.operator, node.left, node.right, translator);
    case "ternary":
      return ternary(inner(node.condition), inner(node.met), inner(node.otherwise));
    case "call":
      return call(node.function, node.arguments, translator);
    case "method":
      if (node.method === "size") return sizeOf(node.receiver, translator);
      if (node.method === "matches") {
        return matches(inner(node.receiver), node.arguments[0], translator);
      }
      if (isTimePart(node.method)) {
        if (node.arguments.length > 0) throw new NoTranslation("a time zone");
        return timePart(node.method, inner(node.receiver));
      }
      return callText(names, node.method, [inner(node.receiver), ...node.arguments.map(inner)]);
    case "comprehension":
      throw new NoTranslation(`\`${node.macro}\``);
    case "transform":
      throw new NoTranslation("`map`");
    case "list":
    case "map":
    case "variable":
      throw new NoTranslation(`a ${node.kind} as a value`);
    default:
      return unreachable(node);
  }
}

function call(
  name: FunctionName,
  [first, second]: readonly ConditionTree[],
  translator: Translator,
): SqlValue {
  if (first === undefined) throw new NoTranslation(`\`${name}\` of nothing`);
  if (name === "size") return sizeOf(first, translator);
  if (name === "matches") return matches(translate(first, translator), second, translator);
  if (first.kind === "literal" && (name === "timestamp" || name === "duration")) {
    return literalTime(name, first.value);
  }
  if (!isConversion(name)) throw new NoTranslation(`\`${name}\``);
  return convertTo(translator.names, name, translate(first, translator));
}

function matches(
  text: SqlValue,
  pattern: ConditionTree | undefined,
  { names }: Translator,
): SqlValue {
  if (pattern?.kind !== "literal" || pattern.value.kind !== "string") {
    throw new NoTranslation("`matches` of a pattern that is not a literal");
  }
  return matchesText(names, text, pattern.value.value);
}

/** A boolean part that is never NULL; a flag of the context may be. */
function isTotal(value: SqlValue): boolean {
  return value.kind === "bool" && value.total;
}

function select(operand: SqlValue, field: string): SqlValue {
  if (operand.kind !== "json") throw new NoTranslation(`a field of ${operand.kind}`);
  return {
    kind: "json",
    sql: sql`(${operand.sql} -> ${literal(field)}::text)`,
    simple: operand.simple,
    total: false,
  };
}

function has(names: Names, operand: SqlValue, field: string): SqlValue {
  if (operand.kind !== "json") throw new NoTranslation(`a field of ${operand.kind}`);
  const key = literal(field);
  return boolean(
    repeatOne(
      names,
      operand,
      (json) =>
        sql`case when jsonb_typeof(${json}) = 'object' then jsonb_exists(${json}, ${key}) end`,
    ),
  );
}

function logical(operator: LogicalOperator, operands: readonly SqlValue[]): SqlValue {
  const word = operator === "&&" ? " and " : " or ";
  return boolean(sql`(${join(operands.map(toBoolean), word)})`, operands.every(isTotal));
}

function binary(
  operator: BinaryOperator,
  leftNode: ConditionTree,
  rightNode: ConditionTree,
  translator: Translator,
): SqlValue {
  const { names } = translator;
  const left = translate(leftNode, translator);
  if (operator === "in" && rightNode.kind === "list") {
    const elements = rightNode.elements.map((element) => translate(element, translator));
    return boolean(inElements(names, left, elements));
  }
  const right = translate(rightNode, translator);
  const total = left.total && right.total && left.kind === right.kind;
  switch (operator) {
    case "==":
      return boolean(equality(names, [left, right]), total);
    case "!=":
      return boolean(sql`(not ${equality(names, [left, right])})`, total);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return boolean(order(names, operator, [left, right]), total && left.kind !== "json");
    case "in":
      return boolean(inContainer(names, left, right));
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
      return arithmetic(names, operator, [left, right]);
    default:
      return unreachable(operator);
  }
}

/** Only the branch that is taken can fault; without a condition, neither is. */
function ternary(condition: SqlValue, met: SqlValue, otherwise: SqlValue): SqlValue {
  const [first, second] =
    met.kind === otherwise.kind ? [met, otherwise] : [toJson(met), toJson(otherwise)];
  const common = {
    sql: sql`
      case ${toBoolean(condition)} when true then ${first.sql} when false then ${second.sql} end
    `,
    simple: false,
    total: isTotal(condition) && first.total && second.total,
  };
  if (first.kind === "int" && second.kind === "int") return { kind: "int", ...common };
  if (first.kind === "double" && second.kind === "double") {
    return { kind: "double", nan: first.nan || second.nan, ...common };
  }
  if (first.kind === "list" && second.kind === "list") {
    if (first.element !== second.element) throw new NoTranslation("lists of two types");
    return { kind: "list", element: first.element, ...common };
  }
  if (first.kind === "int" || first.kind === "double" || first.kind === "list") {
    throw new NoTranslation(`${met.kind} or ${otherwise.kind}`);
  }
  return { kind: first.kind, ...common };
}

/** A value as JSON. Numbers have no such form: an int would become a double. */
function toJson(value: SqlValue): SqlValue {
  switch (value.kind) {
    case "json":
      return value;
    case "null":
      return { ...value, kind: "json" };
    case "bool":
    case "string":
      return { ...value, kind: "json", sql: sql`to_jsonb(${value.sql})` };
    case "int":
    case "double":
    case "list":
    case "timestamp":
    case "duration":
      throw new NoTranslation(`${value.kind} beside another type`);
    default:
      return unreachable(value);
  }
}

function sizeOf(node: ConditionTree, translator: Translator): SqlValue {
  if (node.kind !== "list") return size(translator.names, translate(node, translator));
  const elements = node.elements.map((element) => translate(element, translator));
  const count = sql`${literal(String(elements.length))}::bigint`;
  return {
    kind: "int",
    sql: strict(translator.names, elements, () => count),
    simple: false,
    total: elements.every((element) => element.total),
  };
}
