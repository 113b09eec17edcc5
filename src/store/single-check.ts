import type { CheckItem, CheckQuestion, QuestionFrame } from "./store.ts";

/** A check of one item, without a context. */
export interface SingleCheck {
  readonly item: CheckItem;
  readonly question: CheckQuestion;
}

/** Undefined for bulk checks, and for questions with a context. */
export function singleCheck(question: CheckQuestion): SingleCheck | undefined {
  const [item, ...others] = question.items;
  return item === undefined || others.length > 0 || bringsContext(question)
    ? undefined
    : { item, question };
}

/** Whether the request adds tuples, attributes or data to what is stored. */
export function bringsContext({ context }: Pick<QuestionFrame, "context">): boolean {
  const { tuples, attributes, data } = context;
  return tuples.length > 0 || attributes.length > 0 || Object.keys(data).length > 0;
}

/** Equal for items with the same ids. */
export function itemKey({ entity, subject }: CheckItem): string {
  return `${entity.id.length} ${entity.id}${subject.id}`;
}
