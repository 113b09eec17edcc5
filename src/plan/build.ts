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
import type { PlanSize } from "./passes/plan-size.ts";
import type { AskedNetwork, Plan } from "./plan.ts";
import { resolveQuestion, type Question } from "./question.ts";

/** The plan of a question: a search if it can be one, otherwise a gather. */
export function* buildPlan(asked: AskedNetwork): Steps<Plan> {
  return (yield* buildMeasuredPlan(asked)).plan;
}

/** The same with the size of a search, to compare with `planMax`. */
export function* buildMeasuredPlan(asked: AskedNetwork): Steps<{
  readonly plan: Plan;
  /** Undefined for a gather. */
  readonly size: PlanSize | undefined;
}> {
  const unfolded = yield* unfold(asked.network, asked.root, { withoutGuards: false });
  return unfolded.kind === "automaton"
    ? { plan: arrange(asked, unfolded.automaton), size: unfolded.size }
    : { plan: { ...asked, kind: "gather", reasons: unfolded.reasons }, size: undefined };
}

/** The plan that finds the candidates of a lookup: all that `plan` accepts, and more. */
export function* buildCandidatePlan(plan: Plan): Steps<CandidatePlan> {
  if (plan.kind === "search") return dropGuards(plan);
  const unfolded = yield* unfold(plan.network, plan.root, { withoutGuards: true });
  if (unfolded.kind === "automaton") return dropGuardsOfSuperset(arrange(plan, unfolded.automaton));
  const { states } = yield* collapse(plan.network, [plan.root]);
  return { question: plan.question, states: new Map(states.map((state) => [state.id, state])) };
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
