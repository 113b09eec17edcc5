import type { Schema } from "../language/schema.ts";

/** A relation of an entity type. */
export interface RelationName {
  readonly entityType: string;
  readonly relation: string;
}

/** The relations under which subjects of that type and relation ("" is none) may stand. */
export function relationsWith(
  schema: Schema,
  subjectType: string,
  subjectRelation: string,
): readonly RelationName[] {
  return [...schema.entities.values()].flatMap(({ name: entityType, relations }) =>
    [...relations.values()]
      .filter(({ types }) =>
        types.some(({ type, relation }) => type === subjectType && relation === subjectRelation),
      )
      .map(({ name: relation }) => ({ entityType, relation })),
  );
}
