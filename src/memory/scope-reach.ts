import { must } from "../base/assert.ts";
import type { Entity, JsonValue, Subject } from "../base/tuple.ts";
import { DENIED } from "../base/verdict.ts";
import type { Test } from "../plan/plan.ts";
import type { RelaxedPlan, RelaxedState } from "../plan/relax.ts";
import type { Facts } from "./facts.ts";
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
  const { facts, isInScope } = asked;
  const seen = new Set<string>();
  const queue: { readonly state: RelaxedState; readonly id: string }[] = [];
  const enter = (target: number, id: string): void => {
    const state = must(plan.states.get(target), "hops lead to states");
    const key = `${target}\0${id}`;
    if (seen.has(key) || !isInScope({ type: state.entityType, id })) return;
    seen.add(key);
    queue.push({ state, id });
  };
  enter(0, asked.entityId);
  // Grows while it is read.
  for (const { state, id } of queue) {
    const entity = { type: state.entityType, id };
    if (state.tests.some(({ test }) => mayHold(test, entity, asked))) return true;
    for (const { relations, subjectType, subjectRelation, target } of state.hops) {
      for (const one of facts.subjectIds(entity, relations, subjectType, subjectRelation)) {
        enter(target, one);
      }
    }
  }
  return false;
}

function mayHold(test: Test, entity: Entity, { facts, subject, data }: Asked): boolean {
  const asked = { facts, entityId: entity.id, subject, depth: 0, data, onFault: () => {} };
  return judgeTest(test, entity, asked) !== DENIED;
}
