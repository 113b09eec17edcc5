import type { ASTNode } from "@marcbachmann/cel-js";

import { checkedType, placeOf } from "./checked-node.ts";
import type { Convert, RuleScope } from "./checked-node.ts";
import { partsOfPattern } from "./pattern-size.ts";
import { patternFault } from "./pattern.ts";
import { Refusal } from "./refusal.ts";
import { adviceFor, isFunctionName, isMethodName } from "./standard-library.ts";
import { boolType } from "./static-type.ts";
import type { ConditionTree } from "./tree.ts";

/** `name(arguments)`: `has`, or a function of the standard library. */
export function convertCall(
  node: ASTNode,
  [name, values]: readonly [string, readonly ASTNode[]],
  scope: RuleScope,
  convert: Convert,
): ConditionTree {
  const [first] = values;
  if (name === "has" && first !== undefined) return convertHas(node, convert(first, scope));
  if (!isFunctionName(name)) {
    throw new Refusal(adviceFor(name) ?? `unknown function \`${name}\``, node.start);
  }
  const converted = values.map((value) => convert(value, scope));
  if (name === "matches") checkPattern(converted[1], scope);
  return {
    kind: "call",
    function: name,
    arguments: converted,
    type: checkedType(node),
    ...placeOf(node),
  };
}

/** `receiver.name(arguments)`: a macro over a list or map, or a method of the standard library. */
export function convertMethod(
  node: ASTNode,
  [name, receiver, values]: readonly [string, ASTNode, readonly ASTNode[]],
  scope: RuleScope,
  convert: Convert,
): ConditionTree {
  const macro = convertMacro(node, { name, receiver, values, scope, convert });
  if (macro !== undefined) return macro;
  if (!isMethodName(name)) {
    throw new Refusal(adviceFor(name) ?? `unknown method \`${name}\``, node.start);
  }
  const converted = values.map((value) => convert(value, scope));
  if (name === "matches") checkPattern(converted[0], scope);
  return {
    kind: "method",
    method: name,
    receiver: convert(receiver, scope),
    arguments: converted,
    type: checkedType(node),
    ...placeOf(node),
  };
}

/** A literal pattern is checked when the rule is compiled. */
function checkPattern(pattern: ConditionTree | undefined, { patterns }: RuleScope): void {
  if (pattern?.kind !== "literal" || pattern.value.kind !== "string") return;
  const text = pattern.value.value;
  const wrong = patternFault(text);
  if (wrong !== undefined) throw new Refusal(wrong, pattern.start);
  patterns.parts -= partsOfPattern(text);
  if (patterns.parts >= 0) return;
  throw new Refusal("the patterns of a rule have at most 10,000 parts in all", pattern.start);
}

function convertHas(node: ASTNode, tree: ConditionTree): ConditionTree {
  if (tree.kind === "data") {
    return {
      kind: "literal",
      value: { kind: "bool", value: true },
      type: boolType,
      ...placeOf(node),
    };
  }
  if (tree.kind !== "select") {
    throw new Refusal("`has` takes a path of fields such as `context.data.name`", node.start);
  }
  // The checker does not check the path of `has` beyond its first name.
  const { kind } = tree.operand.type;
  if (kind !== "map" && kind !== "dyn") {
    throw new Refusal(`\`has\` needs a map, this is ${kind}`, tree.operand.start);
  }
  return {
    kind: "has",
    operand: tree.operand,
    field: tree.field,
    type: boolType,
    ...placeOf(node),
  };
}

interface MacroCall {
  readonly name: string;
  readonly receiver: ASTNode;
  readonly values: readonly ASTNode[];
  readonly scope: RuleScope;
  readonly convert: Convert;
}

function convertMacro(node: ASTNode, call: MacroCall): ConditionTree | undefined {
  const { name, receiver, values, scope, convert } = call;
  const [variable, second, third] = values;
  // Only the first argument distinguishes a macro from a method: a bare name with an argument
  // behind it.
  if (variable?.op !== "id" || second === undefined) return undefined;
  const place = { type: checkedType(node), ...placeOf(node) };
  const range = convert(receiver, scope);
  const inner = { ...scope, variables: new Set([...scope.variables, variable.args]) };
  switch (name) {
    case "all":
    case "exists":
    case "exists_one":
    case "filter":
      return {
        kind: "comprehension",
        macro: name,
        range,
        variable: variable.args,
        predicate: convert(second, inner),
        ...place,
      };
    case "map":
      return {
        kind: "transform",
        range,
        variable: variable.args,
        predicate: third === undefined ? undefined : convert(second, inner),
        result: convert(third ?? second, inner),
        ...place,
      };
    default:
      return undefined;
  }
}
