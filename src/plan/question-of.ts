import type { Schema } from "../language/schema.ts";
import { asksRule, type Question } from "./question.ts";

/** What a check asks, but for its ids. */
interface AskedItem {
  readonly entity: { readonly type: string };
  readonly permission: string;
  readonly subject: { readonly type: string; readonly relation: string };
  readonly arguments: readonly string[];
}

/** The question of a check without its ids: those of one plan are answered together. */
export function questionOf(item: AskedItem): Question {
  return {
    entityType: item.entity.type,
    permission: item.permission,
    subjectType: item.subject.type,
    subjectRelation: item.subject.relation,
    arguments: item.arguments.length < 2 ? item.arguments : [...new Set(item.arguments)].toSorted(),
  };
}

/**
 * The question under a schema. If it does not ask a rule, its arguments are dropped, since only rules
 * have some. So the names of the schema bound the number of plans.
 */
export function questionUnder(schema: Schema, item: AskedItem): Question {
  const isKept = item.arguments.length === 0 || asksRule(schema, item.entity.type, item.permission);
  return questionOf(isKept ? item : { ...item, arguments: [] });
}

/** Equal for equal questions; names have no blanks. */
export function questionKey(question: Question): string {
  const { entityType, permission, subjectType, subjectRelation } = question;
  return `${entityType} ${permission} ${subjectType} ${subjectRelation} ${question.arguments.join(" ")}`;
}
