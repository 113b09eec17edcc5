import type { LintPlace, Inspection } from "../inspection.ts";

/** Relations and permissions that no data can give to an entity. */
export const impossibleName: Inspection = {
  code: "impossible-name",
  severity: "error",
  *find({ network, scope, survey }): Iterable<LintPlace> {
    if (!survey.isWhole) return;
    for (const { id, entityType, name, isOperand } of network.nodes) {
      if (isOperand || survey.possible[id] === 1) continue;
      const member = scope.entities.get(entityType)?.members.get(name);
      if (member === undefined) continue;
      const end =
        member.kind === "relation"
          ? "no type of it leads to an entity"
          : "no operand of it leads to an entity, an attribute or a rule";
      yield {
        position: member.name.position,
        message: `no data lets an entity have \`${entityType}#${name}\`: ${end}`,
      };
    }
  },
};
