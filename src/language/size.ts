import { operationsOf } from "./operand.ts";
import type { Problems } from "./problem.ts";
import type { MemberNode, SchemaTree } from "./tree.ts";

/**
 * The most names, types of relations and operators of a schema. An answer looks at all names that
 * lead to it, at every entity on the way: of more it would not come to an end in time.
 */
export const schemaSizeMax = 50_000;

/** Adds a problem at the member that makes the schema too large to be evaluated, if one does. */
export function checkSize({ statements }: SchemaTree, problems: Problems): void {
  let size = 0;
  for (const statement of statements) {
    size += 1;
    if (statement.kind === "rule") continue;
    for (const member of statement.members) {
      size += sizeOf(member);
      if (size <= schemaSizeMax) continue;
      problems.add(
        member.name.position,
        `schema too large: with ${member.kind} \`${statement.name.text}#${member.name.text}\` it has more than ${schemaSizeMax} names, relation types and operators`,
      );
      return;
    }
  }
}

function sizeOf(member: MemberNode): number {
  switch (member.kind) {
    case "relation":
      return 1 + member.types.length;
    case "attribute":
      return 1;
    case "permission": {
      let operators = 0;
      for (const _ of operationsOf(member.expression)) operators += 1;
      return 1 + operators;
    }
  }
}
