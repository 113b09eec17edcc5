import { must } from "../base/assert.ts";
import { fieldError } from "../base/error.ts";
import type { Schema } from "../language/schema.ts";
import type {
  CheckAnswer,
  CheckItem,
  CheckQuestion,
  ExpandQuestion,
  ExplainQuestion,
  LookupEntityQuestion,
  LookupSubjectQuestion,
  SubjectPermissionQuestion,
} from "./store.ts";

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
  // The names are the schema's own, so an error names the one that it is about.
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

/**
 * An expand asks the same names of a schema as a check does, for any subject. It has no
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

/** An explanation as the check that it explains. */
export function explainCheck({ item, ...frame }: ExplainQuestion): CheckQuestion {
  return { ...frame, items: [item], path: (_item, field) => field };
}

/** A lookup as the checks that it comes to: one for each id that is known. */
export interface LookupCheck {
  /** The type of the ids that are looked for. */
  readonly idType: string;
  /** Counts as known, since the question names it; undefined if that is of another type. */
  readonly namedId: string | undefined;
  /** Does this id have what is asked? */
  readonly itemOf: (id: string) => CheckItem;
  /** How the request spells the fields of an item. */
  readonly path: (field: string) => string;
}

export function lookupEntityCheck(question: LookupEntityQuestion): LookupCheck {
  const { entityType, permission, subject } = question;
  return {
    idType: entityType,
    namedId: subject.type === entityType ? subject.id : undefined,
    itemOf: (id) => ({ entity: { type: entityType, id }, permission, subject, arguments: [] }),
    path: (field) => entityFields.get(field) ?? field,
  };
}

export function lookupSubjectCheck(question: LookupSubjectQuestion): LookupCheck {
  const { entity, permission, subjectType, subjectRelation, arguments: names } = question;
  return {
    idType: subjectType,
    namedId: entity.type === subjectType ? entity.id : undefined,
    itemOf: (id) => ({
      entity,
      permission,
      subject: { type: subjectType, id, relation: subjectRelation },
      arguments: names,
    }),
    path: (field) => subjectFields.get(field) ?? field,
  };
}

/** Fails when a scope limits what is no entity of the schema. */
export function validateScope(schema: Schema, scope: LookupEntityQuestion["scope"]): void {
  for (const type of scope.keys()) {
    if (schema.entities.has(type)) continue;
    const problem = `\`${type}\` is not an entity of the schema`;
    throw fieldError("ENTITY_TYPE_NOT_FOUND", "scope", problem);
  }
}

/** The request has no arguments: a rule that needs some can't be what it asks. */
const entityFields: ReadonlyMap<string, string> = new Map([
  ["entity.type", "entity_type"],
  ["arguments", "permission"],
]);

const subjectFields: ReadonlyMap<string, string> = new Map([
  ["subject.type", "subject_reference.type"],
  ["subject.relation", "subject_reference.relation"],
]);
