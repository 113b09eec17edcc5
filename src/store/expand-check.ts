import type { CheckQuestion, ExpandQuestion } from "./store.ts";

/**
 * An expand asks the same names of a schema as a check does, whoever the subject is. It has no
 * depth: a tree ends where a node meets itself.
 */
export function expandCheck(question: ExpandQuestion): CheckQuestion {
  const { entity, permission, arguments: names, ...frame } = question;
  const subject = { ...entity, relation: "" };
  return {
    ...frame,
    depth: Number.POSITIVE_INFINITY,
    items: [{ entity, permission, subject, arguments: names }],
    path: (_item, field) => field,
  };
}
