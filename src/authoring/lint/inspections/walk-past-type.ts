import { operandsOf, permissionsOf } from "../../../language/operand.ts";
import { isAskable, relationOf } from "../../../language/scope.ts";
import type { LintPlace, Inspection } from "../inspection.ts";

/** Walks over a relation with a type that does not have the name that is asked. */
export const walkPastType: Inspection = {
  code: "walk-past-type",
  severity: "warning",
  *find({ tree, scope }): Iterable<LintPlace> {
    for (const { type, permission } of permissionsOf(tree)) {
      for (const { leaf } of operandsOf(permission.expression)) {
        if (leaf.kind === "invocation") continue;
        const [name] = leaf.rest;
        if (name === undefined) continue;
        for (const target of relationOf(scope, type, leaf.first.text)?.types ?? []) {
          if (isAskable(scope, target.type.text, name.text)) continue;
          const userset = `${target.type.text}#${target.relation?.text ?? ""}`;
          yield {
            position: name.position,
            message: `\`${leaf.first.text}.${name.text}\` finds nothing behind \`@${userset}\`: a walk asks the entity \`${target.type.text}\` itself, which has no relation or permission \`${name.text}\``,
          };
        }
      }
    }
  },
};
