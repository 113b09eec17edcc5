import type { Question } from "./plan.ts";

/** The question of a check without its ids: those of one plan are answered together. */
export function questionOf(item: {
  readonly entity: { readonly type: string };
  readonly permission: string;
  readonly subject: { readonly type: string; readonly relation: string };
  readonly arguments: readonly string[];
}): Question {
  return {
    entityType: item.entity.type,
    permission: item.permission,
    subjectType: item.subject.type,
    subjectRelation: item.subject.relation,
    arguments: [...new Set(item.arguments)].toSorted(),
  };
}

/** Equal for equal questions; names have no blanks. */
export function questionKey(question: Question): string {
  const { entityType, permission, subjectType, subjectRelation } = question;
  return `${entityType} ${permission} ${subjectType} ${subjectRelation} ${question.arguments.join(" ")}`;
}
