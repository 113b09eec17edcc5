import { fieldError } from "../base/error.ts";
import type { Schema } from "../language/schema.ts";
import type { CheckItem, LookupEntityQuestion, LookupSubjectQuestion } from "./store.ts";

/** A lookup as the checks that it comes to: one for each id that is known. */
export interface LookupCheck {
  /** The type of the ids that are looked for. */
  readonly idType: string;
  /** Known whatever is stored, since the question names it; undefined when that is of another type. */
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
