import type { LintRule, Severity } from "./rule.ts";
import { caseOnly } from "./rules/case-only.ts";
import { mixedOperators, negatedRecursion } from "./rules/expressions.ts";
import { gathered } from "./rules/gathered.ts";
import { impossibleName } from "./rules/impossible-name.ts";
import { nearBound } from "./rules/near-bound.ts";
import { ruleBehindWalk } from "./rules/rule-behind-walk.ts";
import { unreachableName } from "./rules/unreachable-name.ts";
import { unusedEntity } from "./rules/unused-entity.ts";
import { walkPastType } from "./rules/walk-past-type.ts";

/** Every lint rule, in the order of docs/lint.md. */
export const lintRules: readonly LintRule[] = [
  impossibleName,
  mixedOperators,
  negatedRecursion,
  ruleBehindWalk,
  walkPastType,
  unreachableName,
  unusedEntity,
  caseOnly,
  nearBound,
  gathered,
];

/** What is said of comments that silence findings. Nothing silences it. */
export const commentFaults = {
  "unknown-code": "warning",
  "needless-allow": "warning",
} as const satisfies Readonly<Record<string, Severity>>;
