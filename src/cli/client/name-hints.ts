import { suggest } from "../../base/suggest.ts";
import { ServerRefusal } from "./ask.ts";
import { type Definitions, readDefinitions } from "./head-schema.ts";
import type { Server } from "./send.ts";

/*
 * Why an answer may be empty: the head schema does not have a name that was asked. It is no error, because data of an
 * older schema may have the name.
 */

/** The names of a filter of tuples or of attributes. Undefined where it has none. */
export interface FilterNames {
  readonly entityType: string | undefined;
  /** A relation, or an attribute. */
  readonly name: string | undefined;
  readonly subjectType: string | undefined;
  readonly subjectRelation: string | undefined;
}

/** A sentence for each name of the filter that the head schema does not have. */
export async function filterHints(
  server: Server,
  kind: "relation" | "attribute",
  names: FilterNames,
): Promise<readonly string[]> {
  const definitions = await definitionsIfReadable(server);
  if (definitions === undefined) return [];
  const { entityType, name, subjectType, subjectRelation } = names;
  const types = Object.keys(definitions);
  const members = (type: string | undefined, of: typeof kind): readonly string[] =>
    Object.entries(definitions)
      .filter(([other]) => type === undefined || other === type)
      .flatMap(([, entity]) =>
        Object.keys((of === "relation" ? entity.relations : entity.attributes) ?? {}),
      );
  return [
    ...unknownName("entity type", entityType, types),
    ...unknownName(kind, name, members(knownIn(types, entityType), kind)),
    ...unknownName("entity type", subjectType, types),
    ...unknownName("relation", subjectRelation, members(knownIn(types, subjectType), "relation")),
  ];
}

/** A sentence if the head schema has subjects of the type only as usersets, which are asked by their relation. */
export async function usersetHints(server: Server, type: string): Promise<readonly string[]> {
  const definitions = await definitionsIfReadable(server);
  const references = Object.values(definitions ?? {})
    .flatMap(({ relations }) => Object.values(relations ?? {}))
    .flatMap((relation) => relation.references.filter((reference) => reference.type === type));
  const usersets = [...new Set(references.map(({ relation = "" }) => relation))].sort();
  const [first] = usersets;
  if (first === undefined || first === "") return [];
  const shown = usersets.map((relation) => `\`${type}#${relation}\``).join(" or ");
  return [`the schema has no relation to \`${type}\` alone, expected ${shown}`];
}

function unknownName(
  what: string,
  name: string | undefined,
  known: readonly string[],
): readonly string[] {
  if (name === undefined || name === "" || known.includes(name)) return [];
  return [`the schema has no ${what} \`${name}\`${suggest(name, known)}`];
}

/** A type that is not there narrows nothing. */
function knownIn(types: readonly string[], type: string | undefined): string | undefined {
  return type !== undefined && types.includes(type) ? type : undefined;
}

/** Undefined where there is no schema, or a key that may not read it: the answer stands without a hint, too. */
async function definitionsIfReadable(
  server: Server,
): Promise<Definitions["schema"]["entity_definitions"] | undefined> {
  try {
    return (await readDefinitions(server, "")).schema.entity_definitions;
  } catch (error) {
    if (error instanceof ServerRefusal) return undefined;
    throw error;
  }
}
