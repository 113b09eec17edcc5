import type { Schema } from "../../../language/schema.ts";

/** A row of the table `names`, without what it is of. */
interface SchemaName {
  readonly entity_type: string;
  readonly name: string;
  readonly subject_type: string;
  readonly subject_relation: string;
  readonly value_type: string;
}

/**
 * What can be written under a schema, as JSON for the table `names`, in the order of the schema: each
 * entity type, each subject that a relation allows, and each attribute.
 */
export function schemaNames({ entities }: Schema): string {
  const none = { name: "", subject_type: "", subject_relation: "", value_type: "" };
  const rows = [...entities.values()].flatMap(
    ({ name: entity_type, relations, attributes }): readonly SchemaName[] => [
      { ...none, entity_type },
      ...[...relations.values()].flatMap(({ name, types }) =>
        types.map(({ type, relation }) => ({
          ...none,
          entity_type,
          name,
          subject_type: type,
          subject_relation: relation,
        })),
      ),
      ...[...attributes].map(([name, value_type]) => ({ ...none, entity_type, name, value_type })),
    ],
  );
  return JSON.stringify(rows);
}
