import { operandsOf, operationsOf } from "./operand.ts";
import type { Problems } from "./problem.ts";
import type { Position } from "./source.ts";
import type { EntityNode, MemberNode, SchemaTree, StatementNode } from "./tree.ts";

/**
 * The most names, relation types, operators and targets of walks of a schema. An evaluation visits
 * all names that the answer depends on, at every entity on its path: with more of them it would not
 * end in time.
 */
export const schemaSizeMax = 50_000;

/** The member that makes the schema too large. */
export interface CountedMember {
  readonly kind: MemberNode["kind"];
  readonly entity: string;
  readonly name: string;
  readonly position: Position;
}

/** The message for a schema that is too large to be evaluated. */
export function tooLarge(member: CountedMember | undefined): string {
  const place =
    member === undefined ? "" : `with ${member.kind} \`${member.entity}#${member.name}\` `;
  return `schema too large: ${place}it has more than ${schemaSizeMax} names, relation types, operators and places of walks`;
}

/**
 * Adds a problem at the member that makes the schema too large to be evaluated, if there is one.
 */
export function checkSize(tree: SchemaTree, problems: Problems): void {
  for (const { size, statement, member } of runningSizes(tree)) {
    if (size <= schemaSizeMax || member === undefined) continue;
    const { text: name, position } = member.name;
    const entity = statement.name.text;
    problems.add(position, tooLarge({ kind: member.kind, entity, name, position }));
    return;
  }
}

/** The size of a schema, to compare with {@link schemaSizeMax}. */
export function schemaSizeOf(tree: SchemaTree): number {
  let total = 0;
  for (const { size } of runningSizes(tree)) total = size;
  return total;
}

interface RunningSize {
  /** Of the text up to the end of the member or, without a member, of the head of the statement. */
  readonly size: number;
  readonly statement: StatementNode;
  readonly member: MemberNode | undefined;
}

function* runningSizes({ statements }: SchemaTree): Generator<RunningSize> {
  let size = 0;
  for (const statement of statements) {
    size += 1;
    yield { size, statement, member: undefined };
    if (statement.kind === "rule") continue;
    const types = typesOfRelations(statement);
    for (const member of statement.members) {
      size += sizeOf(member, types);
      yield { size, statement, member };
    }
  }
}

/** The number of types by relation: a walk has as many targets. */
function typesOfRelations({ members }: EntityNode): ReadonlyMap<string, number> {
  return new Map(
    members.flatMap((member) =>
      member.kind === "relation" ? [[member.name.text, member.types.length] as const] : [],
    ),
  );
}

function sizeOf(member: MemberNode, types: ReadonlyMap<string, number>): number {
  switch (member.kind) {
    case "relation":
      return 1 + member.types.length;
    case "attribute":
      return 1;
    case "permission": {
      let size = 1;
      for (const _ of operationsOf(member.expression)) size += 1;
      for (const { leaf } of operandsOf(member.expression)) {
        // The first target counts as the operator does.
        if (leaf.kind === "reference" && leaf.rest.length > 0) {
          size += Math.max(0, (types.get(leaf.first.text) ?? 0) - 1);
        }
      }
      return size;
    }
  }
}
