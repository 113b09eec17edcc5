import type { ExpressionNode } from "../../language/tree.ts";
import type { LeafNode } from "./schema-part.ts";

/** A value that is not known comes of an operand without an answer. */
export type KnownValue = boolean | undefined;

/** An expression as a list in which operands stand before their operations. The last is the root. */
type FlatExpression = readonly (
  | { readonly kind: "leaf"; readonly leaf: LeafNode }
  | { readonly kind: "or" | "and" | "not"; readonly left: number; readonly right: number }
)[];

/**
 * The value of an expression, and the leaves that decide it: if such a leaf had the other value, and
 * all others theirs, so had the expression.
 */
export function decide(
  expression: ExpressionNode,
  valueOf: (leaf: LeafNode) => KnownValue,
): { readonly value: KnownValue; readonly decisive: readonly LeafNode[] } {
  const nodes = flatten(expression);
  const values: KnownValue[] = [];
  for (const node of nodes) {
    values.push(
      node.kind === "leaf"
        ? valueOf(node.leaf)
        : combined(node.kind, values[node.left], values[node.right]),
    );
  }
  const value = values.at(-1);
  if (value === undefined) return { value, decisive: [] };
  const decides = new Set([nodes.length - 1]);
  const decisive: LeafNode[] = [];
  // From the root down.
  for (const [index, node] of [...nodes.entries()].toReversed()) {
    if (!decides.has(index)) continue;
    if (node.kind === "leaf") {
      decisive.push(node.leaf);
      continue;
    }
    // What the other side must be, so that this one makes the difference.
    const { left, right } = { left: values[node.left], right: values[node.right] };
    if (right === (node.kind === "and")) decides.add(node.left);
    if (left === (node.kind !== "or")) decides.add(node.right);
  }
  return { value, decisive: decisive.toReversed() };
}

/** Goes down in a loop, since a long chain of operators is a deep tree. */
function flatten(root: ExpressionNode): FlatExpression {
  const nodes: FlatExpression[number][] = [];
  const done: number[] = [];
  const open: { readonly node: ExpressionNode; readonly isExpanded: boolean }[] = [
    { node: root, isExpanded: false },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, isExpanded } = next;
    if (node.kind === "reference" || node.kind === "invocation") {
      done.push(nodes.push({ kind: "leaf", leaf: node }) - 1);
    } else if (isExpanded) {
      const right = done.pop() ?? 0;
      const left = done.pop() ?? 0;
      done.push(nodes.push({ kind: node.kind, left, right }) - 1);
    } else {
      open.push({ node, isExpanded: true }, unexpanded(node.right), unexpanded(node.left));
    }
  }
  return nodes;
}

function unexpanded(node: ExpressionNode): { node: ExpressionNode; isExpanded: boolean } {
  return { node, isExpanded: false };
}

/** `not` is a difference. A known side may decide alone. */
function combined(kind: "or" | "and" | "not", left: KnownValue, right: KnownValue): KnownValue {
  const other = kind === "not" ? negated(right) : right;
  const deciding = kind === "or";
  if (left === deciding || other === deciding) return deciding;
  return left === undefined || other === undefined ? undefined : !deciding;
}

function negated(value: KnownValue): KnownValue {
  return value === undefined ? undefined : !value;
}
