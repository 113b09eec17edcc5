import type { Context, Entity } from "../base/tuple.ts";
import { withContext } from "./context-facts.ts";
import type { Facts } from "./facts.ts";

/** Facts as lookups read them: also from their other end, and all there are of a type. */
export interface KnownFacts extends Facts {
  /**
   * Ids of the entities of that type with a tuple of one of the relations to such a subject, perhaps
   * with repeats. If the relation of the subject is undefined, any relation fits.
   */
  entityIds(
    entityType: string,
    relations: readonly string[],
    subject: {
      readonly type: string;
      readonly id: string;
      readonly relation: string | undefined;
    },
  ): Iterable<string>;
  /** Ids of the entities of that type for which the attribute has a value, perhaps with repeats. */
  attributeIds(entityType: string, name: string): Iterable<string>;
  /** Ids of that type in a tuple or an attribute, perhaps with repeats. */
  knownIds(type: string): Iterable<string>;
}

/** The facts with what a request adds, as `withContext` has them. */
export function knownWithContext(facts: KnownFacts, context: Context): KnownFacts {
  // Spread below is what `withContext` makes, never the facts themselves, which may be of a class.
  if (context.tuples.length === 0 && context.attributes.length === 0) return facts;
  const bySubject = Map.groupBy(context.tuples, ({ subject }) => `${subject.type}:${subject.id}`);
  return {
    ...withContext(facts, context),
    *entityIds(entityType, relations, subject) {
      for (const tuple of bySubject.get(`${subject.type}:${subject.id}`) ?? []) {
        const isFit =
          tuple.entity.type === entityType &&
          relations.includes(tuple.relation) &&
          (subject.relation === undefined || tuple.subject.relation === subject.relation);
        if (isFit) yield tuple.entity.id;
      }
      yield* facts.entityIds(entityType, relations, subject);
    },
    *attributeIds(entityType, name) {
      for (const { entity, attribute } of context.attributes) {
        if (entity.type === entityType && attribute === name) yield entity.id;
      }
      yield* facts.attributeIds(entityType, name);
    },
    *knownIds(type) {
      for (const { id } of mentions(context).filter((one) => one.type === type)) yield id;
      yield* facts.knownIds(type);
    },
  };
}

function mentions({ tuples, attributes }: Context): Entity[] {
  return [
    ...tuples.flatMap(({ entity, subject }) => [entity, subject]),
    ...attributes.map(({ entity }) => entity),
  ];
}
