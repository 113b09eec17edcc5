import { nestingMax } from "./parse-expression.ts";
import type { Expression } from "./schema.ts";
import type { EntityNode, ExpressionNode, MemberNode, RuleNode, SchemaTree } from "./tree.ts";

type AnyExpression = Expression | ExpressionNode;
type AnyOperation = Extract<AnyExpression, { readonly left: unknown }>;
type AnyLeaf = Exclude<AnyExpression, AnyOperation>;

/**
 * The text of a schema. It parses to the same tree. Comments are lost, because the tree has none.
 */
export function printSchema(tree: SchemaTree): string {
  return tree.statements
    .map((statement) =>
      statement.kind === "entity" ? printEntity(statement) : printRule(statement),
    )
    .join("\n");
}

/**
 * The text of an expression. If operators differ, it puts parentheses around the left side, because
 * readers might group the operators differently.
 */
export function printExpression(expression: AnyExpression): string {
  // Printed parentheses enclose an operator each, so with few operators they cannot nest deeper
  // than the parser allows. With more operators, only necessary parentheses are printed.
  const explicit = countOperators(expression) <= nestingMax;
  return printOperation(expression, explicit);
}

function printEntity({ name, members }: EntityNode): string {
  if (members.length === 0) return `entity ${name.text} {}\n`;
  const lines = members.map((member) => `  ${printMember(member)}\n`);
  return `entity ${name.text} {\n${lines.join("")}}\n`;
}

function printMember(member: MemberNode): string {
  switch (member.kind) {
    case "relation": {
      const types = member.types.map(({ type, relation }) =>
        relation === undefined ? ` @${type.text}` : ` @${type.text}#${relation.text}`,
      );
      return `relation ${member.name.text}${types.join("")}`;
    }
    case "attribute":
      return `attribute ${member.name.text} ${member.type.text}`;
    case "permission":
      return `permission ${member.name.text} = ${printExpression(member.expression)}`;
  }
}

function printRule({ name, parameters, body }: RuleNode): string {
  const list = parameters.map((parameter) => `${parameter.name.text} ${parameter.type.text}`);
  return `rule ${name.text}(${list.join(", ")}) {${body.text}}\n`;
}

function printOperation(root: AnyExpression, explicit: boolean): string {
  const spine: AnyOperation[] = [];
  let node = root;
  while ("left" in node) {
    spine.push(node);
    node = node.left;
  }
  let text = printLeaf(node);
  let previous: AnyOperation["kind"] | undefined;
  for (const { kind, right } of spine.reverse()) {
    if (explicit && previous !== undefined && previous !== kind) text = `(${text})`;
    const operand = printOperation(right, explicit);
    text += ` ${kind} ${"left" in right ? `(${operand})` : operand}`;
    previous = kind;
  }
  return text;
}

function printLeaf(leaf: AnyLeaf): string {
  switch (leaf.kind) {
    case "relation":
    case "permission":
    case "attribute":
      return leaf.name;
    case "walk":
      return `${leaf.relation}.${leaf.name}`;
    case "call":
      return `${leaf.rule}(${leaf.arguments.join(", ")})`;
    case "reference":
      return [leaf.first, ...leaf.rest].map(({ text }) => text).join(".");
    case "invocation":
      return `${leaf.rule.text}(${leaf.arguments.map(printLeaf).join(", ")})`;
  }
}

function countOperators(root: AnyExpression): number {
  let count = 0;
  const left: AnyExpression[] = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (!("left" in node)) continue;
    count += 1;
    left.push(node.left, node.right);
  }
  return count;
}
