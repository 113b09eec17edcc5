import { must } from "../../base/assert.ts";
import type {
  CandidateHop,
  CandidatePlan,
  CandidateState,
} from "../../plan/passes/5-drop-guards.ts";
import { type BackStep, backSteps, type SearchSteps } from "./back-steps.ts";

/** The steps of a search from the subject's end: `plain` are all but the last. */
export interface StepsFromSubject extends SearchSteps {
  /** The state of the question. */
  readonly root: CandidateState;
  /** The states that hops lead to. */
  readonly inner: readonly CandidateState[];
  /** Hops lead to the state of the question, so all candidates are in `back`. */
  readonly isInner: boolean;
  /** Those to the state of the question, unless it is an inner one. */
  readonly last: readonly BackStep[];
}

export function stepsFromSubject(candidatePlan: CandidatePlan): StepsFromSubject {
  const states = [...candidatePlan.states.values()];
  const root = must(candidatePlan.states.get(0), "a plan has its question");
  const targets = new Set(states.flatMap(({ hops }) => hops.map(targetOf)));
  const isInner = targets.has(root.id);
  const steps = backSteps(candidatePlan);
  const last = isInner ? [] : steps.filter(({ to }) => to === root);
  return {
    root,
    inner: states.filter(({ id }) => targets.has(id)),
    isInner,
    last,
    plain: steps.filter((step) => !last.includes(step)),
    loose: steps.filter(({ subjectRelation }) => subjectRelation === undefined),
  };
}

function targetOf({ target }: CandidateHop): number {
  return target;
}
