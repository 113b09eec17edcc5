import type { Entity, Subject } from "../../src/base/tuple.ts";
import type { Change, World } from "./laws.ts";
import { type EntityModel, withExpressions } from "./schema-model.ts";

/** The world with other names of entities, relations and permissions, which sort otherwise. */
export function renamed({ model, facts }: World): Change {
  const fixed = new Set([
    ...model.rules.map(({ name }) => name),
    ...model.entities.flatMap(({ attributes }) => attributes.map(({ name }) => name)),
  ]);
  const name = (old: string): string =>
    old === "" || fixed.has(old) ? old : `${old.split("").toReversed().join("")}_`;
  const entityOf = ({ type, id }: Entity): Entity => ({ type: name(type), id });
  const subjectOf = (one: Subject): Subject => ({
    ...entityOf(one),
    relation: name(one.relation),
  });
  const changed = withExpressions(model, (part) => {
    switch (part.kind) {
      case "relation":
      case "permission":
        return { ...part, name: name(part.name) };
      case "walk":
        return { ...part, relation: name(part.relation), name: name(part.name) };
      default:
        return part;
    }
  });
  const entities = changed.entities.map((entity): EntityModel => ({
    name: name(entity.name),
    relations: entity.relations.map((relation) => ({
      name: name(relation.name),
      types: relation.types.map((one) => ({ type: name(one.type), relation: name(one.relation) })),
    })),
    attributes: entity.attributes,
    permissions: entity.permissions.map((one) => ({ ...one, name: name(one.name) })),
  }));
  return {
    model: { ...model, entities },
    facts: {
      tuples: facts.tuples.map((tuple) => ({
        entity: entityOf(tuple.entity),
        relation: name(tuple.relation),
        subject: subjectOf(tuple.subject),
      })),
      attributes: facts.attributes.map((one) => ({ ...one, entity: entityOf(one.entity) })),
    },
    item: (item) => ({
      ...item,
      entity: entityOf(item.entity),
      permission: name(item.permission),
      subject: subjectOf(item.subject),
    }),
  };
}
