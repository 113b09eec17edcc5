import { must } from "../base/assert.ts";
import { fieldError } from "../base/error.ts";
import type { Schema } from "../language/schema.ts";
import type { CheckAnswer, CheckItem, CheckQuestion, SubjectPermissionQuestion } from "./store.ts";

/**
 * The checks that a subject-permission question comes to under a schema: one for each permission,
 * and for each relation unless only permissions are asked. Attributes and rules are not listed.
 */
export function subjectPermissionChecks(
  schema: Schema,
  question: SubjectPermissionQuestion,
): CheckQuestion {
  const { entity, subject, onlyPermission, ...frame } = question;
  const definition = schema.entities.get(entity.type);
  if (definition === undefined) {
    throw fieldError(
      "ENTITY_TYPE_NOT_FOUND",
      "entity.type",
      `\`${entity.type}\` is not an entity of the schema`,
    );
  }
  const names = [
    ...definition.permissions.keys(),
    ...(onlyPermission ? [] : definition.relations.keys()),
  ];
  const items = names.map((permission): CheckItem => ({
    entity,
    permission,
    subject,
    arguments: [],
  }));
  // The names are the schema's own, so what is wrong with one is told by its name.
  const path = (item: number, field: string): string =>
    field === "permission" ? `\`${names[item] ?? ""}\`` : field;
  return { ...frame, items, path };
}

/** The answers by the names that the checks asked. */
export function answersByName(
  items: readonly CheckItem[],
  answers: readonly CheckAnswer[],
): ReadonlyMap<string, CheckAnswer> {
  return new Map(
    items.map((item, index) => [item.permission, must(answers[index], "every item has an answer")]),
  );
}
