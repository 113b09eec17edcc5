import type { Inspection, Severity } from "./inspection.ts";
import { caseOnly } from "./inspections/case-only.ts";
import { mixedOperators, negatedRecursion } from "./inspections/expressions.ts";
import { gathered } from "./inspections/gathered.ts";
import { impossibleName } from "./inspections/impossible-name.ts";
import { nearBound } from "./inspections/near-bound.ts";
import { ruleBehindWalk } from "./inspections/rule-behind-walk.ts";
import { unreachableName } from "./inspections/unreachable-name.ts";
import { unusedEntity } from "./inspections/unused-entity.ts";
import { walkPastType } from "./inspections/walk-past-type.ts";

/** Every inspection, in the order of docs/lint.md. */
export const inspections: readonly Inspection[] = [
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
