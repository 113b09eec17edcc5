import { must } from "../../base/assert.ts";
import type { GuardedHop, SearchPlan, Test } from "../plan.ts";
import type { Question } from "../question.ts";

/**
 * A search plan without its guards. Its search finds every entity and every subject that the plan
 * would accept, and others. Both lookups take their candidates from it.
 */
export interface CandidatePlan {
  readonly question: Question;
  /** By number; state 0 is the question, the others are reached from it by hops. */
  readonly states: ReadonlyMap<number, CandidateState>;
}

export interface CandidateState {
  readonly id: number;
  readonly entityType: string;
  readonly tests: readonly CandidateTest[];
  readonly hops: readonly CandidateHop[];
}

/** `isDefinite`: the plan has no guard there, except for the arrival guards of the question. */
export interface CandidateTest {
  readonly test: Test;
  readonly isDefinite: boolean;
}

export interface CandidateHop {
  readonly relations: readonly string[];
  readonly subjectType: string;
  /** Undefined in a walk, which follows every subject of the type. */
  readonly subjectRelation: string | undefined;
  readonly target: number;
  /** The hop itself has no guard. */
  readonly isOpen: boolean;
  /** Nor has its target an arrival guard. */
  readonly isDefinite: boolean;
}

/**
 * Makes the candidate plan of a search plan: drops its guards.
 *
 * Needs: a valid search plan.
 * Guarantees: where the plan accepts at an entity, a path of the candidate plan leads from there
 * to an accepting test. If all of that path is definite, the plan accepts if the arrival guards of the
 * question hold. States that only guards led to are dropped.
 */
export function dropGuards(plan: SearchPlan): CandidatePlan {
  return candidatePlanOf(plan, true);
}

/** The same for a plan that was unfolded without guards and so accepts too much: nothing is definite. */
export function dropGuardsOfSuperset(plan: SearchPlan): CandidatePlan {
  return candidatePlanOf(plan, false);
}

function candidatePlanOf(plan: SearchPlan, isExact: boolean): CandidatePlan {
  const states = new Map([[0, candidateState(plan, 0, isExact)]]);
  // Grows while it is read: a state's hops lead to further ones.
  for (const { hops } of states.values()) {
    for (const { target } of hops) {
      if (!states.has(target)) states.set(target, candidateState(plan, target, isExact));
    }
  }
  return { question: plan.question, states };
}

function candidateState(plan: SearchPlan, id: number, isExact: boolean): CandidateState {
  const state = must(plan.states[id], "a plan's states refer to each other");
  const isOpen = ({ guards }: GuardedHop): boolean => isExact && guards.length === 0;
  return {
    id,
    entityType: state.entityType,
    tests: state.tests.map(({ guards, test }) => ({
      test,
      isDefinite: isExact && guards.length === 0,
    })),
    hops: state.hops.map((guarded) => ({
      relations: guarded.hop.relations,
      subjectType: guarded.hop.subjectType,
      subjectRelation: guarded.hop.kind === "userset" ? guarded.hop.subjectRelation : undefined,
      target: guarded.target,
      isOpen: isOpen(guarded),
      isDefinite: isOpen(guarded) && plan.states[guarded.target]?.arrival.length === 0,
    })),
  };
}
