import { unreachable } from "../base/assert.ts";
import type { ConditionTree } from "./tree.ts";

/** The parts of which a rule or a part of it is made. */
export function partsOf(tree: ConditionTree): readonly ConditionTree[] {
  switch (tree.kind) {
    case "literal":
    case "parameter":
    case "data":
    case "variable":
      return [];
    case "select":
    case "has":
    case "unary":
      return [tree.operand];
    case "index":
      return [tree.operand, tree.index];
    case "logical":
      return tree.operands;
    case "binary":
      return [tree.left, tree.right];
    case "ternary":
      return [tree.condition, tree.met, tree.otherwise];
    case "call":
      return tree.arguments;
    case "method":
      return [tree.receiver, ...tree.arguments];
    case "list":
      return tree.elements;
    case "map":
      return tree.entries.flatMap(({ key, value }) => [key, value]);
    case "comprehension":
      return [tree.range, tree.predicate];
    case "transform":
      return [tree.range, tree.result, ...(tree.predicate === undefined ? [] : [tree.predicate])];
    default:
      return unreachable(tree);
  }
}

/** A rule or a part of it with all parts below. */
export function* allParts(tree: ConditionTree): Iterable<ConditionTree> {
  yield tree;
  for (const part of partsOf(tree)) yield* allParts(part);
}
