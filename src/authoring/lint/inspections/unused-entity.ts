import type { LintPlace, Inspection } from "../inspection.ts";

/** Entities that no relation names and that have nothing to ask. */
export const unusedEntity: Inspection = {
  code: "unused-entity",
  severity: "warning",
  *find({ schema, scope }): Iterable<LintPlace> {
    const named = new Set(
      [...schema.entities.values()].flatMap(({ relations }) =>
        [...relations.values()].flatMap(({ types }) => types.map(({ type }) => type)),
      ),
    );
    for (const { name, relations, permissions, attributes } of schema.entities.values()) {
      const hasFlag = [...attributes.values()].includes("boolean");
      if (named.has(name) || relations.size > 0 || permissions.size > 0 || hasFlag) continue;
      const position = scope.entities.get(name)?.node.name.position;
      if (position === undefined) continue;
      yield {
        position,
        message: `entity \`${name}\` is unused: no relation names it, and it has nothing to ask`,
      };
    }
  },
};
