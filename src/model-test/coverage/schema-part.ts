import { printExpression } from "../../language/print.ts";
import type {
  EntityNode,
  ExpressionNode,
  InvocationNode,
  MemberNode,
  Name,
  ReferenceNode,
  SchemaTree,
} from "../../language/tree.ts";

/** The order is that of reports. */
export const partKinds = ["relation", "attribute", "permission", "rule", "operand"] as const;

/** A part of a schema that tests can cover, with its range in the text. */
export interface SchemaPart {
  readonly kind: (typeof partKinds)[number];
  /** `document#viewer@group#member`, `document$public`, `document#view`, or the name of a rule. */
  readonly name: string;
  /** What was written, for an operand; otherwise "". */
  readonly operand: string;
  readonly line: number;
  readonly column: number;
  /** Offsets in the text, `end` exclusive. */
  readonly start: number;
  readonly end: number;
}

/** An operand that is no group in parentheses. */
export type LeafNode = ReferenceNode | InvocationNode;

/** The parts of a schema, in the order of its text. */
export interface SchemaParts {
  readonly all: readonly SchemaPart[];
  /** Parts of all kinds but operands, by kind and name. */
  readonly byName: ReadonlyMap<string, SchemaPart>;
  readonly byLeaf: ReadonlyMap<LeafNode, SchemaPart>;
}

/** The key of a part in `byName`. */
export function partKey(kind: SchemaPart["kind"], name: string): string {
  return `${kind} ${name}`;
}

/** The name of a relation with one type of its subjects. */
export function relationPartName(
  entityType: string,
  relation: string,
  subject: { readonly type: string; readonly relation: string },
): string {
  const type = subject.relation === "" ? subject.type : `${subject.type}#${subject.relation}`;
  return `${entityType}#${relation}@${type}`;
}

/** Lists the parts of a schema that compiles. */
export function schemaPartsOf(tree: SchemaTree): SchemaParts {
  const all: SchemaPart[] = [];
  const byLeaf = new Map<LeafNode, SchemaPart>();
  for (const statement of tree.statements) {
    if (statement.kind === "rule") {
      all.push(partOf(tree, "rule", statement.name.text, [statement.name]));
      continue;
    }
    for (const member of statement.members) all.push(...memberParts(tree, statement, member));
    for (const [leaf, part] of operandParts(tree, statement)) {
      all.push(part);
      byLeaf.set(leaf, part);
    }
  }
  const named = all.filter(({ kind }) => kind !== "operand");
  return {
    // A relation may list a type twice, which is one part.
    all: all.toSorted((one, other) => one.start - other.start),
    byName: new Map(named.map((part) => [partKey(part.kind, part.name), part])),
    byLeaf,
  };
}

function memberParts(tree: SchemaTree, entity: EntityNode, member: MemberNode): SchemaPart[] {
  const type = entity.name.text;
  const name = member.name.text;
  switch (member.kind) {
    case "relation": {
      const parts = new Map<string, SchemaPart>();
      for (const node of member.types) {
        const subject = { type: node.type.text, relation: node.relation?.text ?? "" };
        const named = relationPartName(type, name, subject);
        const names = node.relation === undefined ? [node.type] : [node.type, node.relation];
        if (!parts.has(named)) parts.set(named, partOf(tree, "relation", named, names));
      }
      return [...parts.values()];
    }
    case "attribute":
      return [partOf(tree, "attribute", `${type}$${name}`, [member.name])];
    case "permission":
      return [partOf(tree, "permission", `${type}#${name}`, [member.name])];
  }
}

function* operandParts(
  tree: SchemaTree,
  entity: EntityNode,
): Generator<readonly [LeafNode, SchemaPart]> {
  for (const member of entity.members) {
    if (member.kind !== "permission") continue;
    const name = `${entity.name.text}#${member.name.text}`;
    for (const leaf of leavesOf(member.expression)) {
      const operand = printExpression(leaf);
      yield [leaf, { ...partOf(tree, "operand", name, namesOf(leaf)), operand }];
    }
  }
}

/** The leaves of an expression from left to right. */
export function leavesOf(root: ExpressionNode): readonly LeafNode[] {
  const leaves: LeafNode[] = [];
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "reference" || node.kind === "invocation") leaves.push(node);
    else open.push(node.right, node.left);
  }
  return leaves;
}

function namesOf(leaf: LeafNode): readonly Name[] {
  return leaf.kind === "reference"
    ? [leaf.first, ...leaf.rest]
    : [leaf.rule, ...leaf.arguments.map(({ first }) => first)];
}

/** From the first to the last of the names. */
function partOf(
  { source }: SchemaTree,
  kind: SchemaPart["kind"],
  name: string,
  names: readonly Name[],
): SchemaPart {
  const offsetOf = ({ position }: Name): number =>
    (source.lines[position.line - 1] ?? 0) + position.column - 1;
  const [first] = names;
  const { line, column } = first?.position ?? { line: 1, column: 1 };
  const starts = names.map(offsetOf);
  const ends = names.map((one) => offsetOf(one) + one.text.length);
  return {
    kind,
    name,
    operand: "",
    line,
    column,
    start: Math.min(...starts),
    end: Math.max(...ends),
  };
}
