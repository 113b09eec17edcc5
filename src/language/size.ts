import { operandsOf, operationsOf } from "./operand.ts";
import type { Problems } from "./problem.ts";
import type { Position } from "./source.ts";
import type { EntityNode, MemberNode, SchemaTree } from "./tree.ts";

/**
 * The most names, types of relations, operators and places of walks of a schema. An answer looks at all names that
 * lead to it, at every entity on the way: of more it would not come to an end in time.
 */
export const schemaSizeMax = 50_000;

/** The member that makes a schema too large. */
export interface CountedMember {
  readonly kind: MemberNode["kind"];
  readonly entity: string;
  readonly name: string;
  readonly position: Position;
}

/** What is said of a schema that is too large to be evaluated. */
export function tooLarge(member: CountedMember | undefined): string {
  const place =
    member === undefined ? "" : `with ${member.kind} \`${member.entity}#${member.name}\` `;
  return `schema too large: ${place}it has more than ${schemaSizeMax} names, relation types, operators and places of walks`;
}

/** Adds a problem at the member that makes the schema too large to be evaluated, if one does. */
export function checkSize({ statements }: SchemaTree, problems: Problems): void {
  let size = 0;
  for (const statement of statements) {
    size += 1;
    if (statement.kind === "rule") continue;
    const types = typesOfRelations(statement);
    for (const member of statement.members) {
      size += sizeOf(member, types);
      if (size <= schemaSizeMax) continue;
      const { text: name, position } = member.name;
      const entity = statement.name.text;
      problems.add(position, tooLarge({ kind: member.kind, entity, name, position }));
      return;
    }
  }
}

/** By relation, how many types it has: a walk leads to as many places. */
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
        // Beyond the first place, which counts as its operator does.
        if (leaf.kind === "reference" && leaf.rest.length > 0) {
          size += Math.max(0, (types.get(leaf.first.text) ?? 0) - 1);
        }
      }
      return size;
    }
  }
}
