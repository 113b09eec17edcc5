import fc from "fast-check";

import { unreachable } from "../../src/base/assert.ts";
import type { Attribute, Entity, Subject, Tuple } from "../../src/base/tuple.ts";
import type { RelationType } from "../../src/language/schema.ts";
import { type FactChange, tailChange } from "./footprint-case.ts";
import { idOf } from "./generate-facts.ts";
import type { EntityShape } from "./generate-schema.ts";
import { valueOf } from "./generate-values.ts";
import type { Facts } from "./ground.ts";
import { chosen } from "./pick.ts";
import { type AskedItem, newId, type ReachedPlace } from "./telling-item.ts";

/** A change that is drawn before it is known what is asked, and what data there are. */
export interface ChangeSketch {
  readonly form: "remove" | "tuple" | "attribute";
  /** Of the facts, relations or attributes that there are. */
  readonly pick: number;
  /** Where the oracle comes by, anywhere, or at an id that no data name. */
  readonly entity: { readonly form: "reached" | "any" | "new"; readonly pick: number };
  readonly subject: { readonly form: "asked" | "any" | "new"; readonly pick: number };
  readonly value: number;
}

/** What changes are drawn from. */
export interface ChangeGround extends AskedItem {
  readonly facts: Facts;
  /** Of all versions of the schema. */
  readonly entities: readonly EntityShape[];
  /** So many ids of the pool are in use. */
  readonly ids: number;
}

const pick = fc.nat({ max: 9_999 });

export const changeSketch: fc.Arbitrary<ChangeSketch> = fc.record({
  form: fc.constantFrom("remove", "remove", "tuple", "tuple", "tuple", "attribute"),
  pick,
  entity: fc.record({
    form: fc.constantFrom("reached", "reached", "reached", "reached", "any", "new"),
    pick,
  }),
  subject: fc.record({ form: fc.constantFrom("asked", "asked", "any", "any", "new"), pick }),
  value: pick,
});

/** Undefined if there is nothing to remove, or if no schema has what would be written. */
export function changeOf(sketch: ChangeSketch, around: ChangeGround): FactChange | undefined {
  const place = chosen(around.reached, sketch.entity.pick);
  let options = optionsOf(sketch, place, around);
  for (const isWished of wishesOf(sketch, place, around)) {
    const wished = options.filter(isWished);
    if (wished.length > 0) options = wished;
  }
  return options.length > 0 ? chosen(options, sketch.pick) : undefined;
}

/** What the change should be like, if there is such a one. */
function* wishesOf(
  { entity, subject }: ChangeSketch,
  place: ReachedPlace,
  { item }: ChangeGround,
): Iterable<(change: FactChange) => boolean> {
  if (entity.form === "reached") {
    yield (change) => isAt(place.entity, change);
    yield (change) => tailChange(change).name === place.name;
  }
  if (entity.form === "new") {
    yield (change) => tailChange(change).entityType === item.entity.type;
  }
  if (subject.form === "asked") {
    yield (change) => {
      const by = tailChange(change).subject;
      return by !== undefined && isKindOf(item.subject, by) && by.id === item.subject.id;
    };
  }
  if (subject.form === "new") {
    const types = [item.entity.type, item.subject.type];
    yield (change) => types.includes(tailChange(change).subject?.type ?? "");
  }
}

function isAt({ type, id }: Entity, change: FactChange): boolean {
  const { entityType, entityId } = tailChange(change);
  return entityType === type && entityId === id;
}

function isKindOf(one: RelationType, other: RelationType): boolean {
  return one.type === other.type && one.relation === other.relation;
}

/** All changes of the form; of those that write, one for each relation and type, or for each attribute. */
function optionsOf(
  { form, entity, subject, value }: ChangeSketch,
  place: ReachedPlace,
  { item, facts, entities, ids }: ChangeGround,
): readonly FactChange[] {
  const entityOf = (type: string): Entity => {
    if (entity.form === "new") return { type, id: newId };
    const isReached = entity.form === "reached" && type === place.entity.type;
    return isReached ? place.entity : { type, id: idOf(type, entity.pick % ids) };
  };
  const subjectOf = (kind: RelationType): Subject => {
    if (subject.form === "new") return { ...kind, id: newId };
    const isAsked = subject.form === "asked" && isKindOf(item.subject, kind);
    return isAsked ? item.subject : { ...kind, id: idOf(kind.type, subject.pick % ids) };
  };
  switch (form) {
    case "remove":
      return [
        ...facts.tuples.map((tuple) => ({ kind: "tuple", written: false, tuple }) as const),
        ...facts.attributes.map(
          (attribute) => ({ kind: "attribute", written: false, attribute }) as const,
        ),
      ];
    case "tuple":
      return entities
        .flatMap(({ name, relations }) =>
          relations.flatMap((relation) =>
            relation.types.map((kind): Tuple => ({
              entity: entityOf(name),
              relation: relation.name,
              subject: subjectOf(kind),
            })),
          ),
        )
        .filter((tuple) => !isOfItself(tuple))
        .map((tuple) => ({ kind: "tuple", written: true, tuple }));
    case "attribute":
      return entities
        .flatMap(({ name, attributes }) =>
          attributes.map((attribute): Attribute => ({
            entity: entityOf(name),
            attribute: attribute.name,
            value: valueOf(attribute.type, value),
          })),
        )
        .map((attribute) => ({ kind: "attribute", written: true, attribute }));
    default:
      return unreachable(form);
  }
}

/** From a userset to itself, which no schema allows. */
function isOfItself({ entity, relation, subject }: Tuple): boolean {
  return entity.type === subject.type && entity.id === subject.id && relation === subject.relation;
}
