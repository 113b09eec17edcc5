import type { Expression } from "../language/schema.ts";

/** An operand of a compiled expression that is no operation. */
export type LeafExpression = Exclude<Expression, { readonly left: unknown }>;

/** A leaf, and whether it counts against the answer: it stands on the right side of `not`. */
export interface ExpressionLeaf {
  readonly leaf: LeafExpression;
  readonly isNegated: boolean;
}

/** The leaves of an expression from left to right. */
export function leavesOf(root: Expression): readonly ExpressionLeaf[] {
  const leaves: ExpressionLeaf[] = [];
  // A chain of operators is deep on its left side, too deep for calls.
  const open = [{ node: root, isNegated: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, isNegated } = next;
    if ("left" in node) {
      open.push({ node: node.left, isNegated });
      open.push({ node: node.right, isNegated: isNegated !== (node.kind === "not") });
    } else {
      leaves.push({ leaf: node, isNegated });
    }
  }
  return leaves.reverse();
}
