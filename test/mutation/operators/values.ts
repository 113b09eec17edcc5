import { type Node, textOf } from "../syntax.ts";
import { type Operator, type Proposal, replace, type Surroundings } from "./operator.ts";

const verdicts = ["ALLOWED", "DENIED", "UNKNOWN"];

/** Texts that come between the pieces of a statement. */
const separators: Readonly<Record<string, string>> = {
  " and ": " or ",
  " or ": " and ",
  " union all ": " union ",
  " union ": " union all ",
};

/** Faults in constants, kinds and keys. */
export const values: Operator = (node, surroundings) => {
  const { source, ancestors } = surroundings;
  const [parent] = ancestors;
  if (isName(node, parent)) return [];
  switch (node.type) {
    case "Literal":
      return literals(node.value, node, surroundings);
    case "Identifier":
      if (!verdicts.includes(node.name)) return [];
      return verdicts
        .filter((other) => other !== node.name)
        .map((other) => replace("another verdict", node, other));
    case "TemplateLiteral":
      if (parent?.type === "TaggedTemplateExpression") return [];
      return node.expressions.map((hole) => {
        const start = source.lastIndexOf("${", hole.start);
        return replace("without a part of the text", { start, end: hole.end + 1 }, "");
      });
    default:
      return [];
  }
};

function literals(
  value: unknown,
  node: Node,
  { source, siblings, ancestors: [parent] }: Surroundings,
): readonly Proposal[] {
  if (typeof value === "boolean") return [replace("another boolean", node, String(!value))];
  if (typeof value === "number") {
    return [value + 1, value - 1].map((other) => replace("another number", node, String(other)));
  }
  if (typeof value !== "string" || parent?.type === "SwitchCase") return [];
  const separator = separators[value];
  if (separator !== undefined) {
    return [replace("another separator", node, JSON.stringify(separator))];
  }
  const quote = textOf(source, node).slice(0, 1);
  return (siblings.get(value) ?? []).map((other) =>
    replace("another kind", node, `${quote}${other}${quote}`),
  );
}

/** Whether the node names something instead of being a value. */
function isName(node: Node, parent: Node | undefined): boolean {
  switch (parent?.type) {
    case "Property":
      return parent.shorthand || (parent.key === node && !parent.computed);
    case "MemberExpression":
      return parent.property === node && !parent.computed;
    case "PropertyDefinition":
    case "MethodDefinition":
      return parent.key === node;
    case "ImportSpecifier":
    case "ExportSpecifier":
    case "ImportDeclaration":
    case "ExportNamedDeclaration":
    case "ImportExpression":
      return true;
    case "VariableDeclarator":
      return parent.id === node;
    default:
      return false;
  }
}

/**
 * The strings of the unions of a source: those of `"a" | "b"`, and the kinds of objects. The type
 * checker lets one stand where another does.
 */
export function siblingsIn(nodes: readonly Node[]): readonly (readonly string[])[] {
  return nodes.flatMap((node) => {
    if (node.type !== "TSUnionType") return [];
    const names = node.types.flatMap((type) => {
      const kind = kindOf(type);
      return kind === undefined ? [] : [kind];
    });
    return names.length > 1 ? [[...new Set(names)]] : [];
  });
}

function kindOf(type: Node): string | undefined {
  if (type.type === "TSLiteralType" && type.literal.type === "Literal") {
    return typeof type.literal.value === "string" ? type.literal.value : undefined;
  }
  if (type.type !== "TSTypeLiteral") return undefined;
  for (const member of type.members) {
    if (member.type !== "TSPropertySignature" || member.typeAnnotation === null) continue;
    const kind = kindOf(member.typeAnnotation?.typeAnnotation ?? member);
    if (kind !== undefined) return kind;
  }
  return undefined;
}
