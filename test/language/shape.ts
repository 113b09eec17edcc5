import type {
  ExpressionNode,
  MemberNode,
  SchemaTree,
  StatementNode,
} from "../../src/language/tree.ts";

/** A tree as plain nested arrays, without positions and without redundant parentheses. */
export type Shape = string | readonly Shape[];

export function shapeOf(tree: SchemaTree): readonly Shape[] {
  return tree.statements.map(statementShape);
}

function statementShape(statement: StatementNode): Shape {
  const name = statement.name.text;
  if (statement.kind === "entity") return ["entity", name, statement.members.map(memberShape)];
  const parameters = statement.parameters.map((one) => [one.name.text, one.type.text]);
  return ["rule", name, parameters, statement.body.text];
}

function memberShape(member: MemberNode): Shape {
  const name = member.name.text;
  switch (member.kind) {
    case "relation":
      return [
        "relation",
        name,
        member.types.map(({ type, relation }) =>
          relation === undefined ? [type.text] : [type.text, relation.text],
        ),
      ];
    case "attribute":
      return ["attribute", name, member.type.text];
    case "permission":
      return ["permission", name, expressionShape(member.expression)];
  }
}

function expressionShape(node: ExpressionNode): Shape {
  switch (node.kind) {
    case "reference":
      return [node.first, ...node.rest].map(({ text }) => text).join(".");
    case "invocation":
      return ["call", node.rule.text, ...node.arguments.map(expressionShape)];
    case "and":
    case "or":
    case "not":
      return [node.kind, expressionShape(node.left), expressionShape(node.right)];
  }
}
