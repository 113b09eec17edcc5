import { fieldError } from "../base/error.ts";
import { suggest } from "../base/suggest.ts";
import type { EntityDefinition, RuleDefinition, Schema } from "../language/schema.ts";

/**
 * What a plan answers: may a subject of this type (and relation) do this on an entity of this
 * type? Ids, tenant, snapshot, depth and context come when it runs, so one plan serves them all.
 */
export interface Question {
  readonly entityType: string;
  readonly permission: string;
  readonly subjectType: string;
  /** "" asks for the subject itself, else for the userset of that relation. */
  readonly subjectRelation: string;
  /** Attribute names when `permission` is the name of a rule; else empty. */
  readonly arguments: readonly string[];
}

/** The subjects that a plan is for. */
export type SubjectKind = Pick<Question, "subjectType" | "subjectRelation">;

/** What the asked name is in the schema. */
export type ResolvedName =
  | { readonly kind: "name"; readonly entity: EntityDefinition; readonly name: string }
  | { readonly kind: "rule"; readonly entity: EntityDefinition; readonly rule: RuleDefinition };

/**
 * Resolves the names of a question. Fails with a client error that names the field, which `path`
 * spells as the request does (`entity.type`, `items[2].permission`).
 */
export function resolveQuestion(
  schema: Schema,
  question: Question,
  path: (field: string) => string,
): ResolvedName {
  const entity = schema.entities.get(question.entityType);
  if (entity === undefined) {
    throw fieldError(
      "ENTITY_TYPE_NOT_FOUND",
      path("entity.type"),
      `\`${question.entityType}\` is not an entity of the schema${suggest(question.entityType, schema.entities.keys())}`,
    );
  }
  resolveSubject(schema, question, path);
  const name = question.permission;
  if (entity.permissions.has(name) || entity.relations.has(name)) {
    return { kind: "name", entity, name };
  }
  const attribute = entity.attributes.get(name);
  if (attribute === "boolean") return { kind: "name", entity, name };
  if (attribute !== undefined) {
    throw fieldError(
      "PERMISSION_NOT_FOUND",
      path("permission"),
      `the attribute \`${name}\` of \`${entity.name}\` is \`${attribute}\`, only a boolean one can be asked`,
    );
  }
  const rule = schema.rules.get(name);
  if (rule !== undefined) {
    checkArguments(entity, rule, question, path);
    return { kind: "rule", entity, rule };
  }
  throw fieldError(
    "PERMISSION_NOT_FOUND",
    path("permission"),
    `\`${entity.name}\` has no permission, relation or attribute \`${name}\`${suggest(name, namesOf(entity))}`,
  );
}

/** Whether the name, asked of an entity of the type, is that of a rule: names of its own go before. */
export function asksRule(schema: Schema, entityType: string, name: string): boolean {
  if (!schema.rules.has(name)) return false;
  const entity = schema.entities.get(entityType);
  return !(
    entity?.permissions.has(name) ||
    entity?.relations.has(name) ||
    entity?.attributes.has(name)
  );
}

function resolveSubject(schema: Schema, question: Question, path: (field: string) => string): void {
  const subject = schema.entities.get(question.subjectType);
  if (subject === undefined) {
    throw fieldError(
      "SUBJECT_TYPE_NOT_FOUND",
      path("subject.type"),
      `\`${question.subjectType}\` is not an entity of the schema${suggest(question.subjectType, schema.entities.keys())}`,
    );
  }
  const relation = question.subjectRelation;
  const isKnown =
    relation === "" ||
    subject.relations.has(relation) ||
    subject.permissions.has(relation) ||
    subject.attributes.get(relation) === "boolean";
  if (isKnown) return;
  throw fieldError(
    "RELATION_DEFINITION_NOT_FOUND",
    path("subject.relation"),
    `\`${subject.name}\` has no relation or permission \`${relation}\`${suggest(relation, namesOf(subject))}`,
  );
}

/** What can be asked of an entity of the type. */
function* namesOf(entity: EntityDefinition): Generator<string> {
  yield* entity.permissions.keys();
  yield* entity.relations.keys();
  for (const [name, type] of entity.attributes) if (type === "boolean") yield name;
}

function checkArguments(
  entity: EntityDefinition,
  rule: RuleDefinition,
  question: Question,
  path: (field: string) => string,
): void {
  const given = new Set(question.arguments);
  for (const [parameter, type] of rule.parameters) {
    if (!given.has(parameter)) {
      throw fieldError(
        "MISSING_ARGUMENT",
        path("arguments"),
        `the rule \`${rule.name}\` needs the argument \`${parameter}\``,
      );
    }
    const attribute = entity.attributes.get(parameter);
    if (attribute !== type) {
      throw fieldError(
        "INVALID_ARGUMENT",
        path("arguments"),
        `\`${parameter}\` of \`${rule.name}\` is \`${type}\`, ` +
          (attribute === undefined
            ? `but \`${entity.name}\` has no such attribute`
            : `but the attribute of \`${entity.name}\` is \`${attribute}\``),
      );
    }
  }
  for (const name of given) {
    if (rule.parameters.has(name)) continue;
    throw fieldError(
      "INVALID_ARGUMENT",
      path("arguments"),
      `the rule \`${rule.name}\` has no parameter \`${name}\``,
    );
  }
}
