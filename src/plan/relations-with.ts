import type { Schema } from "../language/schema.ts";

/** A relation of an entity type. */
export interface RelationName {
  readonly entityType: string;
  readonly relation: string;
}

/** Finds the relations under which subjects of a type and relation ("" is none) may stand. */
export function relationsWith(
  schema: Schema,
): (subjectType: string, subjectRelation: string) => readonly RelationName[] {
  const byKind = new Map<string, RelationName[]>();
  for (const { name: entityType, relations } of schema.entities.values()) {
    for (const { name: relation, types } of relations.values()) {
      for (const type of types) {
        const kind = `${type.type}#${type.relation}`;
        const known = byKind.get(kind);
        if (known === undefined) byKind.set(kind, [{ entityType, relation }]);
        else known.push({ entityType, relation });
      }
    }
  }
  return (subjectType, subjectRelation) => byKind.get(`${subjectType}#${subjectRelation}`) ?? [];
}
