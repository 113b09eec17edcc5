import type { Attribute, Context, Entity, Tuple } from "../base/tuple.ts";
import type { Facts } from "./facts.ts";

/** The facts with what a request adds: its tuples beside the stored ones, its attributes over them. */
export function withContext(facts: Facts, context: Context): Facts {
  if (context.tuples.length === 0 && context.attributes.length === 0) return facts;
  const tuples = Map.groupBy(context.tuples, (tuple) => factKey(tuple.entity, tuple.relation));
  const attributes = new Map<string, Attribute>();
  for (const attribute of context.attributes) {
    attributes.set(factKey(attribute.entity, attribute.attribute), attribute);
  }
  const added = (entity: Entity, relations: readonly string[]): Tuple[] =>
    relations.flatMap((relation) => tuples.get(factKey(entity, relation)) ?? []);
  return {
    hasTuple: (entity, relations, subject) =>
      added(entity, relations).some(
        (tuple) =>
          tuple.subject.type === subject.type &&
          tuple.subject.id === subject.id &&
          tuple.subject.relation === subject.relation,
      ) || facts.hasTuple(entity, relations, subject),
    *subjectIds(entity, relations, subjectType, subjectRelation) {
      for (const { subject } of added(entity, relations)) {
        if (subject.type !== subjectType) continue;
        if (subjectRelation === undefined || subject.relation === subjectRelation) yield subject.id;
      }
      yield* facts.subjectIds(entity, relations, subjectType, subjectRelation);
    },
    *subjects(entity, relation, subjectType) {
      for (const { subject } of added(entity, [relation])) {
        if (subject.type === subjectType) yield subject;
      }
      yield* facts.subjects(entity, relation, subjectType);
    },
    attribute: (entity, name) =>
      attributes.get(factKey(entity, name))?.value ?? facts.attribute(entity, name),
  };
}

function factKey(entity: Entity, name: string): string {
  return `${entity.type}\0${entity.id}\0${name}`;
}
