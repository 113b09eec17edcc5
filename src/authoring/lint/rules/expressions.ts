import { lintSchema, type Warning } from "../../../language/lint.ts";
import type { LintRule } from "../rule.ts";

/** What the language itself warns of. */
function expressionRule(code: Warning["code"]): LintRule {
  return {
    code,
    severity: "warning",
    find: ({ tree }) => lintSchema(tree).filter((warning) => warning.code === code),
  };
}

/** Different operators in a row. */
export const mixedOperators = expressionRule("mixed-operators");

/** Permissions that depend on their own denial. */
export const negatedRecursion = expressionRule("negated-recursion");
