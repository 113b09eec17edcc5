import { lintSchema, type Warning } from "../../../language/lint.ts";
import type { Inspection } from "../inspection.ts";

/** What the language itself warns of. */
function expressionInspection(code: Warning["code"]): Inspection {
  return {
    code,
    severity: "warning",
    find: ({ tree }) => lintSchema(tree).filter((warning) => warning.code === code),
  };
}

/** Different operators in a row. */
export const mixedOperators = expressionInspection("mixed-operators");

/** Permissions that depend on their own denial. */
export const negatedRecursion = expressionInspection("negated-recursion");
