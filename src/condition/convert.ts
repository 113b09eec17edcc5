import type { ASTNode } from "@marcbachmann/cel-js";

import { unreachable } from "../base/assert.ts";
import type { AttributeType } from "../base/tuple.ts";
import { checkedType, placeOf } from "./checked-node.ts";
import type { RuleScope } from "./checked-node.ts";
import { convertCall, convertMethod } from "./convert-call.ts";
import { Refusal } from "./refusal.ts";
import { adviceFor, typeNames } from "./standard-library.ts";
import { boolType, jsonObjectType } from "./static-type.ts";
import type { BinaryOperator, ConditionTree, Literal, LogicalOperator } from "./tree.ts";

const largestInt = 2n ** 63n - 1n;
const smallestInt = -(2n ** 63n);

/** A rule is compiled in one go, and some microseconds go to each of these. */
const patternPartsMax = 10_000;

/** Converts a parsed and checked tree to our own. Throws a Refusal for what a rule may not use. */
export function convert(
  node: ASTNode,
  parameters: ReadonlyMap<string, AttributeType>,
): ConditionTree {
  const patterns = { parts: patternPartsMax };
  return convertNode(node, { parameters, variables: new Set(), patterns });
}

function convertNode(node: ASTNode, scope: RuleScope): ConditionTree {
  const place = { type: checkedType(node), ...placeOf(node) };
  switch (node.op) {
    case "value":
      return { kind: "literal", value: literal(node.args, node), ...place };
    case "id":
      return convertName(node, node.args, scope);
    case ".":
      return convertSelect(node, node.args, scope);
    case "[]":
      return convertIndex(node, node.args, scope);
    case "!_":
      return { kind: "unary", operator: "!", operand: convertNode(node.args, scope), ...place };
    case "-_":
      return convertMinus(node, node.args, scope);
    case "&&":
    case "||": {
      const operands = convertAll(chain(node, node.op), scope);
      return { kind: "logical", operator: node.op, operands, ...place };
    }
    case "?:":
      return convertTernary(node, node.args, scope);
    case "list":
      return { kind: "list", elements: convertAll(node.args, scope), ...place };
    case "map":
      return {
        kind: "map",
        entries: node.args.map(([key, value]) => ({
          key: convertNode(key, scope),
          value: convertNode(value, scope),
        })),
        ...place,
      };
    case "call":
      return convertCall(node, node.args, scope, convertNode);
    case "rcall":
      return convertMethod(node, node.args, scope, convertNode);
    case ".?":
    case "[?]":
      throw new Refusal("optional values are not part of the standard library", node.start);
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
    case "in":
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
      return convertBinary(node, node.op, node.args, scope);
    default:
      return unreachable(node);
  }
}

function convertAll(nodes: readonly ASTNode[], scope: RuleScope): readonly ConditionTree[] {
  return nodes.map((node) => convertNode(node, scope));
}

function convertTernary(
  node: ASTNode,
  [condition, met, otherwise]: readonly [ASTNode, ASTNode, ASTNode],
  scope: RuleScope,
): ConditionTree {
  return {
    kind: "ternary",
    condition: convertNode(condition, scope),
    met: convertNode(met, scope),
    otherwise: convertNode(otherwise, scope),
    type: checkedType(node),
    ...placeOf(node),
  };
}

function literal(
  value: Extract<ASTNode, { readonly op: "value" }>["args"],
  node: ASTNode,
): Literal {
  if (typeof value === "boolean") return { kind: "bool", value };
  if (typeof value === "number") return { kind: "double", value };
  if (typeof value === "string") return { kind: "string", value };
  if (typeof value === "bigint") return intLiteral(value, node);
  if (value === null) return { kind: "null" };
  if (value instanceof Uint8Array) return bytesLiteral(value, node);
  throw new Refusal("unsigned integers are not supported", node.start);
}

/** The library cuts characters to one byte each, where UTF-8 is right. */
function bytesLiteral(value: Uint8Array, node: ASTNode): Literal {
  if (/[^\0-\x7f]/.test(node.input.slice(node.start, node.end))) {
    throw new Refusal("bytes beyond ASCII must be escaped, such as b'\\xff'", node.start);
  }
  return { kind: "bytes", value };
}

function intLiteral(value: bigint, node: ASTNode): Literal {
  if (value > largestInt || value < smallestInt) {
    throw new Refusal(`the integer \`${value}\` does not fit 64 bits`, node.start);
  }
  return { kind: "int", value };
}

function convertName(node: ASTNode, name: string, scope: RuleScope): ConditionTree {
  const place = { type: checkedType(node), ...placeOf(node) };
  if (scope.variables.has(name)) return { kind: "variable", name, ...place };
  if (scope.parameters.has(name)) return { kind: "parameter", name, ...place };
  if (name === "context") {
    throw new Refusal("of `context`, only `context.data` can be read", node.start);
  }
  if (typeNames.some((type) => type === name)) {
    return { kind: "literal", value: { kind: "type", name }, ...place };
  }
  throw new Refusal(
    adviceFor(name) ?? `unknown name \`${name}\`: a rule sees its parameters and \`context.data\``,
    node.start,
  );
}

/** `google.protobuf.Timestamp` and `google.protobuf.Duration` are type names. */
function namedType(operand: ASTNode, field: string, scope: RuleScope): string | undefined {
  if (operand.op !== "." || scope.variables.has("google")) return undefined;
  const [root, part] = operand.args;
  if (root.op !== "id" || root.args !== "google" || part !== "protobuf") return undefined;
  return field === "Timestamp" || field === "Duration" ? `google.protobuf.${field}` : undefined;
}

function isContext(node: ASTNode, scope: RuleScope): boolean {
  return node.op === "id" && node.args === "context" && !scope.variables.has("context");
}

function convertSelect(
  node: ASTNode,
  [operand, field]: readonly [ASTNode, string],
  scope: RuleScope,
): ConditionTree {
  const place = placeOf(node);
  if (isContext(operand, scope)) {
    if (field === "data") return { kind: "data", type: jsonObjectType, ...place };
    throw new Refusal("of `context`, only `context.data` can be read", node.start);
  }
  const name = namedType(operand, field, scope);
  if (name !== undefined) {
    return { kind: "literal", value: { kind: "type", name }, type: checkedType(node), ...place };
  }
  return {
    kind: "select",
    operand: convertNode(operand, scope),
    field,
    type: checkedType(node),
    ...place,
  };
}

function convertIndex(
  node: ASTNode,
  [operand, index]: readonly [ASTNode, ASTNode],
  scope: RuleScope,
): ConditionTree {
  if (isContext(operand, scope) && index.op === "value" && typeof index.args === "string") {
    return convertSelect(node, [operand, index.args], scope);
  }
  return {
    kind: "index",
    operand: convertNode(operand, scope),
    index: convertNode(index, scope),
    type: checkedType(node),
    ...placeOf(node),
  };
}

/** A minus before a number is part of it: the smallest integer has no positive counterpart. */
function convertMinus(node: ASTNode, operand: ASTNode, scope: RuleScope): ConditionTree {
  const place = { type: checkedType(node), ...placeOf(node) };
  if (operand.op === "value" && typeof operand.args === "bigint") {
    return { kind: "literal", value: intLiteral(-operand.args, node), ...place };
  }
  return { kind: "unary", operator: "-", operand: convertNode(operand, scope), ...place };
}

/**
 * The operands of a chain, left to right. A chain can be as long as a rule, so this does not
 * recurse.
 */
function chain(node: ASTNode, operator: LogicalOperator): readonly ASTNode[] {
  const operands: ASTNode[] = [];
  const open = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.op === "&&" || next.op === "||") {
      if (next.op === operator) open.push(next.args[1], next.args[0]);
      else operands.push(next);
    } else operands.push(next);
  }
  return operands;
}

function convertBinary(
  node: ASTNode,
  operator: BinaryOperator,
  [left, right]: readonly [ASTNode, ASTNode],
  scope: RuleScope,
): ConditionTree {
  const tree: ConditionTree = {
    kind: "binary",
    operator,
    left: convertNode(left, scope),
    right: convertNode(right, scope),
    type: isBoolean(operator) ? boolType : checkedType(node),
    ...placeOf(node),
  };
  // The library allows ordering an int against a double. The standard allows it only if one is dyn.
  const kinds = [tree.left.type.kind, tree.right.type.kind];
  if (kinds.includes("int") && kinds.includes("double")) {
    throw new Refusal(`no such overload: ${kinds[0]} ${operator} ${kinds[1]}`, node.start);
  }
  return tree;
}

function isBoolean(operator: BinaryOperator): boolean {
  return !["+", "-", "*", "/", "%"].includes(operator);
}
