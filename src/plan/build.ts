import type { Schema } from "../language/schema.ts";
import { buildAutomaton } from "./automaton.ts";
import { componentsOf } from "./components.ts";
import type { Item } from "./expand.ts";
import { buildNetwork } from "./network.ts";
import type { GatherReason, Plan, Question } from "./plan.ts";
import { searchPlan } from "./prune.ts";
import { resolveQuestion } from "./question.ts";

/**
 * The plan of a question: a search when it can be one, else a network that is gathered and solved.
 * Fails with a client error that names the field (spelled by `path`) when the schema does not have
 * what is asked.
 */
export function buildPlan(
  schema: Schema,
  question: Question,
  path: (field: string) => string,
): Plan {
  const asked = resolveQuestion(schema, question, path);
  const root: Item =
    asked.kind === "rule" ? { kind: "rule", rule: asked.rule } : { kind: "name", name: asked.name };
  const components = componentsOf(schema);
  const automaton = buildAutomaton({ schema, components, question, root });
  if (automaton.reasons.length === 0) return searchPlan(schema, question, automaton);
  return {
    kind: "network",
    question,
    reasons: distinct(automaton.reasons),
    network: buildNetwork(schema, question),
  };
}

function distinct(reasons: readonly GatherReason[]): GatherReason[] {
  return [...new Map(reasons.map((reason) => [JSON.stringify(reason), reason])).values()];
}
