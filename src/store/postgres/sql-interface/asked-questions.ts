import { fieldError } from "../../../base/error.ts";
import type { QuestionPattern } from "../../../config/question-pattern.ts";
import type { EntityDefinition, Schema } from "../../../language/schema.ts";
import { questionKey } from "../../../plan/question-of.ts";
import type { Question } from "../../../plan/question.ts";

/** How many questions a schema has at most if none are chosen. */
const unchosenMax = 200;

/**
 * The questions of a schema that can be asked in SQL, each once, in an order that depends on the schema
 * and the patterns alone. What a pattern names and the schema lacks is left out: other tenants may have
 * it. Without patterns, fails with INVALID_ARGUMENT when there are too many.
 */
export function askedQuestions(
  schema: Schema,
  patterns: readonly QuestionPattern[],
): readonly Question[] {
  const found = patterns.length === 0 ? unchosen(schema) : patterns.flatMap(matching(schema));
  return [...new Map(found.map((question) => [questionKey(question), question])).values()];
}

/** Every permission, for each type that is a direct subject somewhere in the schema. */
function unchosen(schema: Schema): readonly Question[] {
  const types = directSubjectTypes(schema);
  const names = [...schema.entities.values()].flatMap(({ name, permissions }) =>
    [...permissions.keys()].map((permission) => ({ entityType: name, permission })),
  );
  if (names.length * types.length > unchosenMax) {
    throw fieldError(
      "INVALID_ARGUMENT",
      "schema",
      `it has ${names.length * types.length} questions for SQL, at most ${unchosenMax} are made unless they are chosen: set \`database.sql.questions\``,
    );
  }
  return names.flatMap((name) =>
    types.map((subjectType) => ({ ...name, subjectType, subjectRelation: "", arguments: [] })),
  );
}

function directSubjectTypes({ entities }: Schema): readonly string[] {
  const types = [...entities.values()].flatMap(({ relations }) =>
    [...relations.values()].flatMap((relation) => relation.types),
  );
  return [...new Set(types.filter(({ relation }) => relation === "").map(({ type }) => type))];
}

function matching({ entities }: Schema): (pattern: QuestionPattern) => readonly Question[] {
  return ({ entityType, permission, subjectType, subjectRelation }) => {
    const entity = entities.get(entityType);
    const subject = entities.get(subjectType);
    if (entity === undefined || subject === undefined) return [];
    if (subjectRelation !== "" && !canBeAsked(subject, subjectRelation)) return [];
    const names =
      permission === undefined
        ? [...entity.permissions.keys()]
        : [permission].filter((name) => canBeAsked(entity, name));
    return names.map((name) => ({
      entityType,
      permission: name,
      subjectType,
      subjectRelation,
      arguments: [],
    }));
  };
}

function canBeAsked(
  { permissions, relations, attributes }: EntityDefinition,
  name: string,
): boolean {
  return permissions.has(name) || relations.has(name) || attributes.get(name) === "boolean";
}
