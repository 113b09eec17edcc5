import { must } from "../../../base/assert.ts";
import type { LintPlace, Inspection } from "../inspection.ts";

/** Permissions that are gathered, and why. */
export const gathered: Inspection = {
  code: "gathered",
  severity: "note",
  *find({ scope, survey }): Iterable<LintPlace> {
    const byNode = Map.groupBy(survey.questions, ({ node }) => node);
    for (const [{ entityType, name }, questions] of byNode) {
      const slow = questions.filter(({ reasons }) => reasons.length > 0);
      if (slow.length === 0) continue;
      const member = scope.entities.get(entityType)?.members.get(name);
      const { position } = must(member, "a permission has its place").name;
      const types = slow.map(({ subjectType }) => `\`${subjectType}\``);
      const subjects = slow.length === questions.length ? "" : ` for subjects ${types.join(", ")}`;
      const reasons = [...new Set(slow.flatMap((question) => question.reasons))];
      yield {
        position,
        message: `\`${entityType}#${name}\` is gathered${subjects}, not searched: ${reasons.join("; ")}`,
      };
    }
  },
};
