import { LRUCache } from "lru-cache";

import type { Schema } from "../language/schema.ts";
import { buildPlan } from "./build.ts";
import type { Plan, Question } from "./plan.ts";
import { questionKey } from "./question-of.ts";

/**
 * Questions whose plans are kept for a schema. What can be asked is bounded by its names, since an
 * unknown one has no plan, but a large schema has millions of pairs of them.
 */
export const plansMax = 1000;

/** Plans live as long as their schema: one for each of the questions that were asked last. */
const plans = new WeakMap<Schema, LRUCache<string, Plan>>();

/** The plan of a question (see `questionUnder`), built once. Fails as `buildPlan` does. */
export function planOf(schema: Schema, question: Question, path: (field: string) => string): Plan {
  let known = plans.get(schema);
  if (known === undefined) {
    known = new LRUCache({ max: plansMax });
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
