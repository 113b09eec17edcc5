import { type Node, textOf } from "../syntax.ts";
import { type Operator, replace, type Surroundings } from "./operator.ts";

/** Faults in what is passed over, ended and returned. */
export const statements: Operator = (node, surroundings) => {
  switch (node.type) {
    case "ExpressionStatement":
      return isWork(node.expression, surroundings)
        ? [{ ...replace("without the statement", node, ";"), kind: "statement" }]
        : [];
    case "ContinueStatement":
      return [
        { ...replace("break for continue", node, "break;"), kind: "statement" },
        { ...replace("without continue", node, ";"), kind: "statement" },
      ];
    case "ReturnStatement": {
      if (node.argument === null) {
        return [{ ...replace("without return", node, ";"), kind: "statement" }];
      }
      const undefinedAlready = textOf(surroundings.source, node.argument) === "undefined";
      if (undefinedAlready) return [];
      return [{ ...replace("returns undefined", node.argument, "undefined"), at: node.argument }];
    }
    case "SwitchCase": {
      if (node.test === null) return [];
      return [{ ...replace("without the case", node.test, "[] as never"), at: node.test }];
    }
    default:
      return [];
  }
};

function isWork(expression: Node, { ancestors }: Surroundings): boolean {
  switch (expression.type) {
    case "CallExpression":
    case "UpdateExpression":
      return true;
    case "AssignmentExpression":
      return !ancestors.some(
        (one) => one.type === "MethodDefinition" && one.kind === "constructor",
      );
    case "AwaitExpression":
    case "YieldExpression":
      return expression.argument !== null;
    default:
      return false;
  }
}
