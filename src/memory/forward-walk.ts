import { must } from "../base/assert.ts";
import type { Pace, Steps } from "../base/steps.ts";
import type { Entity, JsonValue, Subject } from "../base/tuple.ts";
import { DENIED } from "../base/verdict.ts";
import type { CandidatePlan, CandidateState } from "../plan/passes/5-drop-guards.ts";
import type { Facts } from "./facts.ts";
import { judgeTest } from "./judge.ts";

/** An entity that a walk reaches, and the state of the plan there. */
export interface Visit {
  readonly state: CandidateState;
  readonly entity: Entity;
}

/**
 * The visits of a candidate plan that begins at an entity, each once, the nearest first.
 * Entities that are not in scope lead nowhere.
 */
export function* forwardWalk(
  plan: CandidatePlan,
  { facts, entityId, isInScope }: ForwardWalk,
): Iterable<Visit> {
  const seen = new Set<string>();
  const queue: Visit[] = [];
  const enter = (target: number, id: string): void => {
    const state = must(plan.states.get(target), "hops lead to states");
    const entity = { type: state.entityType, id };
    const key = `${target}\0${id}`;
    if (seen.has(key) || !isInScope(entity)) return;
    seen.add(key);
    queue.push({ state, entity });
  };
  enter(0, entityId);
  // Grows while it is read.
  for (const visit of queue) {
    yield visit;
    for (const { relations, subjectType, subjectRelation, target } of visit.state.hops) {
      for (const id of facts.subjectIds(visit.entity, relations, subjectType, subjectRelation)) {
        enter(target, id);
      }
    }
  }
}

interface ForwardWalk {
  readonly facts: Facts;
  readonly entityId: string;
  readonly isInScope: (entity: Entity) => boolean;
}

/** A walk, and what its tests are judged with. */
interface ScopeInput extends ForwardWalk {
  readonly subject: Subject;
  readonly pace: Pace;
  readonly data: { readonly [key: string]: JsonValue };
}

/**
 * Whether the plan leads from an entity to the subject through entities in scope alone. Only then is
 * the entity a candidate of a lookup with a scope.
 */
export function* reachesInScope(plan: CandidatePlan, asked: ScopeInput): Steps<boolean> {
  const judged = { ...asked, onFault: () => {} };
  for (const { state, entity } of forwardWalk(plan, asked)) {
    if (asked.pace.step()) yield;
    for (const { test } of state.tests) {
      if ((yield* judgeTest(test, entity, judged)) !== DENIED) return true;
    }
  }
  return false;
}
