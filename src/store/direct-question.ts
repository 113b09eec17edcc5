import type { Question } from "../plan/question.ts";
import type { CompiledText } from "./planner.ts";

/** The relation whose tuples alone decide a question. */
export interface DirectQuestion {
  /** "" where no subject of the kind can stand in it: no tuple has that. */
  readonly relation: string;
}

/**
 * How tuples of one relation decide the question; undefined where they do not. In bulk such a question
 * needs no plan: thousands of them would displace all other plans.
 */
export function directQuestion(
  { network }: CompiledText,
  { entityType, permission, subjectType, subjectRelation }: Question,
): DirectQuestion | undefined {
  const formula = network.byName.get(entityType)?.get(permission)?.formula;
  if (formula?.kind !== "relation" || formula.usersets.length > 0) return undefined;
  // A subject with a relation may be the entity itself, or unknown.
  if (subjectRelation !== "" || !network.byName.has(subjectType)) return undefined;
  const isHeld = formula.types.some((type) => type.type === subjectType && type.relation === "");
  return { relation: isHeld ? permission : "" };
}
