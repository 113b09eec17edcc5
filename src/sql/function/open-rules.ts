import { Pace, runThrough } from "../../base/steps.ts";
import { defaultValue } from "../../condition/defaults.ts";
import { partsOf } from "../../condition/parts.ts";
import type { ConditionTree } from "../../condition/tree.ts";
import type { RuleDefinition } from "../../language/schema.ts";
import type { CandidatePlan } from "../../plan/passes/5-drop-guards.ts";

/**
 * Names of the rules that may hold for an entity without any attribute. A function is written before
 * the context of a call is known, so a rule that reads it counts as one that may hold. So does one with a
 * comprehension, which may take long.
 */
export function openRules({ states }: CandidatePlan): ReadonlySet<string> {
  const tests = [...states.values()].flatMap((state) => state.tests);
  const rules = tests.flatMap(({ test }) => (test.kind === "rule" ? [test.rule] : []));
  return new Set(rules.filter(mayHoldWithoutAttributes).map(({ name }) => name));
}

function mayHoldWithoutAttributes({ parameters, condition }: RuleDefinition): boolean {
  if (isOpen(condition.tree)) return true;
  const defaults = new Map([...parameters].map(([name, type]) => [name, defaultValue(type)]));
  const verdict = runThrough(condition.evaluate({ parameters: defaults, data: {} }, new Pace()));
  return verdict.kind === "fault" || verdict.value;
}

/** Whether `context.data` or a comprehension stands anywhere in the condition. */
function isOpen(tree: ConditionTree): boolean {
  switch (tree.kind) {
    case "data":
    case "comprehension":
    case "transform":
      return true;
    default:
      return partsOf(tree).some(isOpen);
  }
}
