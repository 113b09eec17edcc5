import type { Schema } from "../language/schema.ts";
import { buildPlan } from "./build.ts";
import type { Plan, Question } from "./plan.ts";
import { questionKey } from "./question-of.ts";

/**
 * Plans live as long as their schema: one for each question that was asked. What can be asked is
 * bounded by the names of the schema, since an unknown name has no plan.
 */
const plans = new WeakMap<Schema, Map<string, Plan>>();

/** The plan of a question, built once. Fails as `buildPlan` does. */
export function planOf(schema: Schema, question: Question, path: (field: string) => string): Plan {
  let known = plans.get(schema);
  if (known === undefined) {
    known = new Map();
    plans.set(schema, known);
  }
  const key = questionKey(question);
  let plan = known.get(key);
  if (plan === undefined) {
    plan = buildPlan(schema, question, path);
    known.set(key, plan);
  }
  return plan;
}
