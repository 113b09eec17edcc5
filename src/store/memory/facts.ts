import type { AttributeValue, Entity, Subject } from "../../base/tuple.ts";
import type { KnownFacts } from "../../memory/known-facts.ts";
import type { AttributeIndex } from "./attribute-index.ts";
import type { Revision } from "./revision.ts";
import type { TupleIndex } from "./tuple-index.ts";

/** The facts of a tenant as they stood at a revision: later writes do not show in them. */
export class FactsAt implements KnownFacts {
  readonly #tuples: TupleIndex;
  readonly #attributes: AttributeIndex;
  readonly #revision: Revision;

  constructor(
    { tuples, attributes }: { readonly tuples: TupleIndex; readonly attributes: AttributeIndex },
    revision: Revision,
  ) {
    this.#tuples = tuples;
    this.#attributes = attributes;
    this.#revision = revision;
  }

  hasTuple(entity: Entity, relations: readonly string[], subject: Subject): boolean {
    return relations.some((relation) =>
      this.#tuples.has({ entity, relation, subject }, this.#revision),
    );
  }

  subjectIds(
    entity: Entity,
    relations: readonly string[],
    type: string,
    subjectRelation: string | undefined,
  ): Iterable<string> {
    const subject = { type, relation: subjectRelation };
    const of = (relation: string): Iterable<string> =>
      this.#tuples.subjectIds(entity, relation, subject, this.#revision);
    const [only] = relations;
    return only !== undefined && relations.length === 1 ? of(only) : inTurn(relations, of);
  }

  subjects(entity: Entity, relation: string, type: string): Iterable<Subject> {
    return this.#tuples.subjects(entity, relation, type, this.#revision);
  }

  attribute(entity: Entity, name: string): AttributeValue | undefined {
    return this.#attributes.get(entity, name, this.#revision);
  }

  *entityIds(
    entityType: string,
    relations: readonly string[],
    {
      type,
      id,
      relation,
    }: { readonly type: string; readonly id: string; readonly relation: string | undefined },
  ): Iterable<string> {
    const filter = {
      entity: { type: entityType, ids: [] },
      relation: "",
      subject: { type, ids: [id], relation: "" },
    };
    for (const tuple of this.#tuples.find(filter, this.#revision)) {
      if (!relations.includes(tuple.relation)) continue;
      if (relation === undefined || tuple.subject.relation === relation) yield tuple.entity.id;
    }
  }

  *attributeIds(type: string, name: string): Iterable<string> {
    const filter = { entity: { type, ids: [] }, attributes: [name] };
    for (const { entity } of this.#attributes.find(filter, this.#revision)) yield entity.id;
  }

  *knownIds(type: string): Iterable<string> {
    yield* this.#tuples.mentionedIds(type, this.#revision);
    const filter = { entity: { type, ids: [] }, attributes: [] };
    for (const { entity } of this.#attributes.find(filter, this.#revision)) yield entity.id;
  }
}

function* inTurn(
  relations: readonly string[],
  of: (relation: string) => Iterable<string>,
): Iterable<string> {
  for (const relation of relations) yield* of(relation);
}
