import { must } from "../base/assert.ts";
import type { Entity } from "../base/tuple.ts";
import type { RelaxedPlan, RelaxedState } from "../plan/passes/5-drop-guards.ts";
import type { Facts } from "./facts.ts";

/** Where a walk arrives: an entity, and what the plan asks of it there. */
export interface Place {
  readonly state: RelaxedState;
  readonly entity: Entity;
}

/**
 * The places to which a plan without its guards leads from an entity, each once, the nearest first.
 * Entities that are not in scope lead nowhere.
 */
export function* forwardWalk(
  plan: RelaxedPlan,
  { facts, entityId, isInScope }: ForwardWalk,
): Iterable<Place> {
  const seen = new Set<string>();
  const queue: Place[] = [];
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
  for (const place of queue) {
    yield place;
    for (const { relations, subjectType, subjectRelation, target } of place.state.hops) {
      for (const id of facts.subjectIds(place.entity, relations, subjectType, subjectRelation)) {
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
