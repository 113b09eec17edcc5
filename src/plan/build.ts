import { must } from "../base/assert.ts";
import { runThrough, type Steps } from "../base/steps.ts";
import type { Schema } from "../language/schema.ts";
import { type Network, type Node, ruleNode } from "./network.ts";
import { lower } from "./passes/1-lower.ts";
import { restrict } from "./passes/2-restrict.ts";
import { unfold } from "./passes/3-unfold.ts";
import { arrange } from "./passes/4-arrange.ts";
import { dropGuards, type CandidatePlan, dropGuardsOfSuperset } from "./passes/5-drop-guards.ts";
import { collapse } from "./passes/6-collapse.ts";
import type { AskedNetwork, Plan, State } from "./plan.ts";
import { resolveQuestion, type Question } from "./question.ts";

/** The plan of a question: a search if it can be one, otherwise a gather. */
export function* buildPlan(asked: AskedNetwork): Steps<Plan> {
  const unfolded = yield* unfold(asked.network, asked.root, { purpose: "check" });
  return unfolded.kind === "obstacle"
    ? { ...asked, kind: "gather", reasons: unfolded.reasons }
    : arrange(asked, unfolded.automaton);
}

/** The plans of a lookup: the one that judges its candidates, which answers as `plan` does, and the one that finds them. */
export interface JudgingPlans {
  readonly judging: Plan;
  /** Its states have the numbers of `judging`, if that is a search. */
  readonly candidates: CandidatePlan;
}

/** The plans of a lookup by the plan of its checks. */
export function* buildLookupPlans(plan: Plan): Steps<JudgingPlans> {
  const judging = yield* narrowed(plan);
  return { judging, candidates: yield* buildCandidatePlan(judging) };
}

/** The plan that finds the candidates of a lookup: all that `plan` accepts, and more. */
export function* buildCandidatePlan(plan: Plan): Steps<CandidatePlan> {
  if (plan.kind === "search") return dropGuards(plan);
  const unfolded = yield* unfold(plan.network, plan.root, { purpose: "superset" });
  if (unfolded.kind === "automaton") return dropGuardsOfSuperset(arrange(plan, unfolded.automaton));
  const { states } = yield* collapse(plan.network, [plan.root]);
  return { question: plan.question, states: new Map(states.map((state) => [state.id, state])) };
}

/** The plan by which few candidates are found: the same one, unless some `and` has a narrower operand. */
function* narrowed(plan: Plan): Steps<Plan> {
  if (plan.kind === "gather" || !plan.states.some(requiresMore)) return plan;
  const unfolded = yield* unfold(plan.network, plan.root, { purpose: "lookup" });
  // Other guards may pass the bounds.
  if (unfolded.kind === "obstacle" || !unfolded.isNarrowed) return plan;
  const { question, network, root } = plan;
  return arrange({ question, network, root }, unfolded.automaton);
}

function requiresMore({ arrival, tests, hops }: State): boolean {
  const guards = [...arrival, ...[...tests, ...hops].flatMap((part) => part.guards)];
  return guards.some(({ polarity }) => polarity === "required");
}

/** The plan of one question of a schema, in one go. Fails as `rootOf` does. */
export function planOf(schema: Schema, question: Question, path: (field: string) => string): Plan {
  const network = runThrough(lower(schema));
  const root = rootOf(network, question, path);
  const { subjectType, subjectRelation } = question;
  const restricted = runThrough(restrict(network, { subjectType, subjectRelation }));
  return runThrough(buildPlan({ question, network: restricted, root }));
}

/**
 * The node of what is asked. Fails with a client error that names the field (spelled by `path`) when
 * the schema does not have it.
 */
export function rootOf(
  network: Network,
  question: Question,
  path: (field: string) => string,
): Node {
  const asked = resolveQuestion(network.schema, question, path);
  if (asked.kind === "rule") return ruleNode(network, asked.entity.name, asked.rule);
  return must(network.byName.get(asked.entity.name)?.get(asked.name), "a known name has a node");
}
