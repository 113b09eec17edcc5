import { Pace, runThrough } from "../../src/base/steps.ts";
import type { Condition, ConditionInput, ConditionVerdict } from "../../src/condition/condition.ts";

/** The verdict of a condition, without pauses. */
export function evaluateCondition(condition: Condition, input: ConditionInput): ConditionVerdict {
  return runThrough(condition.evaluate(input, new Pace()));
}
