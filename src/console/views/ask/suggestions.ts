import type { SchemaOutline } from "../../worker/inspect.ts";
import type { QuestionField, WrittenQuestion } from "./question.ts";

/** What the schema offers for a field of a question. */
export function suggestionsFor(
  field: QuestionField,
  question: WrittenQuestion,
  outline: SchemaOutline | undefined,
): readonly string[] {
  const types = outline?.types ?? [];
  switch (field) {
    case "subject":
    case "entity":
      return types.map(({ name }) => `${name}:`);
    case "permission":
      return permissionsFor(question, types);
    case "of":
      return question.mode === "entities"
        ? types.map(({ name }) => name)
        : types.flatMap(({ name, relations }) => [
            name,
            ...relations.map((relation) => `${name}#${relation.name}`),
          ]);
    case "data":
    case "facts":
    case "snap":
    case "depth":
      return [];
  }
}

/** Of the type of the entity, or of all types while it is not known. */
function permissionsFor(
  { mode, entity, of }: WrittenQuestion,
  types: SchemaOutline["types"],
): readonly string[] {
  const type = mode === "entities" ? of.trim() : entity.trim().split(":", 1)[0];
  const known = types.filter(({ name }) => name === type);
  const names = (known.length > 0 ? known : types).flatMap(({ permissions, relations }) => [
    ...permissions.map(({ name }) => name),
    ...relations.map(({ name }) => name),
  ]);
  return [...new Set(names)];
}
