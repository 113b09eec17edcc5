import { numbered } from "../search/writer.ts";
import { type Fragment, param, sql } from "../text/fragment.ts";
import { filtered, type IdReading } from "./candidate.ts";

/** The entity types whose ids a lookup limits to those of the parameter `scope_<type>`. */
export interface ScopedTypes {
  readonly types: readonly string[];
  /** CTEs of these ids, for the statement's `with`. */
  readonly tables: readonly Fragment[];
  /** Whether an entity of a type is among them: undefined when the type has no limit. */
  readonly allows: (entityType: string, id: Fragment) => Fragment | undefined;
  /** A reading of ids of a type, of those that are among them. */
  readonly limited: (reading: IdReading, entityType: string) => IdReading;
}

/** The key of the parameter with the ids to which a type is limited. */
export function scopeKey(entityType: string): string {
  return `scope_${entityType}`;
}

export function scopedTypes(types: readonly string[]): ScopedTypes {
  const allows = (entityType: string, id: Fragment): Fragment | undefined => {
    const index = types.indexOf(entityType);
    if (index < 0) return undefined;
    return sql`(${id} in (select s.id from ${numbered("scope", index)} s)) is true`;
  };
  return {
    types,
    tables: types.map(
      (type, index) =>
        sql`
          ${numbered("scope", index)} as materialized (
            select s.id collate "C" as id from unnest(${param(scopeKey(type), "text[]")}) s(id)
          )
        `,
    ),
    allows,
    limited: (reading, entityType) =>
      types.includes(entityType)
        ? filtered(reading, (id) => allows(entityType, id) ?? sql`true`)
        : reading,
  };
}
