import type { Entity, JsonValue, Subject } from "../base/tuple.ts";
import { DENIED } from "../base/verdict.ts";
import type { RelaxedPlan } from "../plan/passes/5-drop-guards.ts";
import type { Facts } from "./facts.ts";
import { forwardWalk } from "./forward-walk.ts";
import { judgeTest } from "./judge.ts";

interface Asked {
  readonly facts: Facts;
  readonly entityId: string;
  readonly subject: Subject;
  readonly data: { readonly [key: string]: JsonValue };
  readonly isInScope: (entity: Entity) => boolean;
}

/**
 * Whether the plan leads from an entity to the subject through entities in scope alone: what makes
 * it a candidate of a lookup with a scope, for one that was found without judging the tests.
 */
export function reachesInScope(plan: RelaxedPlan, asked: Asked): boolean {
  const judged = { ...asked, onFault: () => {} };
  for (const { state, entity } of forwardWalk(plan, asked)) {
    if (state.tests.some(({ test }) => judgeTest(test, entity, judged) !== DENIED)) return true;
  }
  return false;
}
