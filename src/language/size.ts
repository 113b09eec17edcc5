import { operandsOf, operationsOf } from "./operand.ts";
import type { Problems } from "./problem.ts";
import { schemaSizeMax, tooLarge } from "./size-limit.ts";
import type { EntityNode, MemberNode, SchemaTree } from "./tree.ts";

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
