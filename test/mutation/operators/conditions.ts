import { type Node, textOf } from "../syntax.ts";
import { type Operator, replace } from "./operator.ts";

const comparisons: Readonly<Record<string, readonly string[]>> = {
  "===": ["!=="],
  "!==": ["==="],
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "+": ["-"],
  "-": ["+"],
};

const connectives: Readonly<Record<string, string>> = { "&&": "||", "||": "&&" };

/** Faults in what is compared, connected and chosen. */
export const conditions: Operator = (node, { source }) => {
  switch (node.type) {
    case "BinaryExpression":
      return (comparisons[node.operator] ?? []).map((other) =>
        replace("another operator", operatorOf(node, source), other),
      );
    case "LogicalExpression": {
      const other = connectives[node.operator];
      return [
        ...(other === undefined
          ? []
          : [replace("another operator", operatorOf(node, source), other)]),
        replace("only the left operand", node, textOf(source, node.left)),
        replace("only the right operand", node, textOf(source, node.right)),
      ];
    }
    case "ConditionalExpression":
      return [
        replace("always the first branch", node, textOf(source, node.consequent)),
        replace("always the second branch", node, textOf(source, node.alternate)),
      ];
    case "UnaryExpression":
      if (node.operator !== "!") return [];
      return [replace("without not", node, textOf(source, node.argument))];
    case "IfStatement":
      if (yieldsOnly(node.consequent)) return [];
      return [
        {
          ...replace("negated condition", node.test, `!(${textOf(source, node.test)})`),
          at: node.test,
        },
        { ...replace("never", node.test, "false"), at: node.test },
      ];
    default:
      return [];
  }
};

function operatorOf(
  node: Extract<Node, { type: "BinaryExpression" | "LogicalExpression" }>,
  source: string,
): { readonly start: number; readonly end: number } {
  const start = source.indexOf(node.operator, node.left.end);
  return { start, end: start + node.operator.length };
}

/** A pause for other work changes no answer. */
function yieldsOnly(node: Node): boolean {
  return (
    node.type === "ExpressionStatement" &&
    node.expression.type === "YieldExpression" &&
    node.expression.argument === null
  );
}
