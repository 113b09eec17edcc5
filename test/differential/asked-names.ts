import type { Entity, Subject } from "../../src/base/tuple.ts";
import type { EntityDefinition, Schema } from "../../src/language/schema.ts";
import type { CheckItem } from "../../src/store/store.ts";
import type { FormsFacts } from "./forms-case.ts";

/** Of each type that is asked about. */
const idsAsked = 2;

/** All permissions and relations of a schema and more, at a few entities of each type. */
export function askedNames(schema: Schema, facts: FormsFacts): readonly AskedName[] {
  const ids = idsOf(facts);
  return [...schema.entities.values()].flatMap((definition) =>
    (ids.get(definition.name) ?? ["unheard"]).flatMap((id) =>
      namesOf(definition, schema).map((name) => ({
        ...name,
        entity: { type: definition.name, id },
      })),
    ),
  );
}

export interface AskedName extends Pick<CheckItem, "permission" | "arguments"> {
  readonly entity: Entity;
  readonly kind: "permission" | "relation" | "attribute" | "rule";
}

/**
 * Subjects of every type of the schema, of every kind of userset that a relation takes, and the
 * usersets of a permission of each type.
 */
export function askedSubjects(schema: Schema, facts: FormsFacts): readonly Subject[] {
  const ids = idsOf(facts);
  const types = [...schema.entities.values()].flatMap(({ name, relations, permissions }) => {
    const isPlain = relations.size + permissions.size <= 2;
    const known = ids.get(name) ?? ["unheard"];
    return known.slice(0, isPlain ? idsAsked : 1).map((id) => ({ type: name, id, relation: "" }));
  });
  const usersets = [...schema.entities.values()].flatMap(({ name, relations, permissions }) => {
    const taken = [...relations.values()].flatMap(({ types }) => types);
    const defined = [...permissions.keys()]
      .slice(0, 1)
      .map((one) => ({ type: name, relation: one }));
    return [...taken.filter(({ relation }) => relation !== ""), ...defined].map(
      ({ type, relation }) => ({ type, id: ids.get(type)?.[0] ?? "unheard", relation }),
    );
  });
  return distinct([...types, ...usersets]);
}

/** The first ids of each type that the data name. */
function idsOf({ tuples, attributes }: FormsFacts): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>();
  const named = [
    ...tuples.flatMap(({ entity, subject }) => [entity, subject]),
    ...attributes.map(({ entity }) => entity),
  ];
  for (const { type, id } of named) {
    const known = ids.get(type) ?? [];
    if (known.length < idsAsked && !known.includes(id)) ids.set(type, [...known, id]);
  }
  return ids;
}

function namesOf(
  { permissions, relations, attributes }: EntityDefinition,
  schema: Schema,
): readonly Omit<AskedName, "entity">[] {
  const name = (permission: string, kind: AskedName["kind"]): Omit<AskedName, "entity"> => ({
    permission,
    kind,
    arguments: [],
  });
  const flags = [...attributes].filter(([, type]) => type === "boolean");
  const rules = [...schema.rules.values()].filter(({ parameters }) =>
    [...parameters].every(([parameter, type]) => attributes.get(parameter) === type),
  );
  return [
    ...[...permissions.keys()].map((one) => name(one, "permission")),
    ...[...relations.keys()].map((one) => name(one, "relation")),
    ...flags.slice(0, 1).map(([one]) => name(one, "attribute")),
    ...rules
      .slice(0, 1)
      .map((one) => ({ ...name(one.name, "rule"), arguments: [...one.parameters.keys()] })),
  ];
}

function distinct<T>(all: readonly T[]): readonly T[] {
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}
