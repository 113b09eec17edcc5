import type { KnownFacts } from "../../memory/known-facts.ts";
import type { AttributeIndex } from "./attribute-index.ts";
import type { Revision } from "./revision.ts";
import type { TupleIndex } from "./tuple-index.ts";

/** The facts of a tenant as they stood at a revision: later writes do not show in them. */
export function factsAt(
  { tuples, attributes }: { readonly tuples: TupleIndex; readonly attributes: AttributeIndex },
  revision: Revision,
): KnownFacts {
  return {
    hasTuple: (entity, relations, subject) =>
      relations.some((relation) => tuples.has({ entity, relation, subject }, revision)),
    *subjectIds(entity, relations, type, subjectRelation) {
      const subject = { type, relation: subjectRelation };
      for (const relation of relations) {
        yield* tuples.subjectIds(entity, relation, subject, revision);
      }
    },
    attribute: (entity, name) => attributes.get(entity, name, revision),
    *entityIds(entityType, relations, { type, id, relation }) {
      const filter = {
        entity: { type: entityType, ids: [] },
        relation: "",
        subject: { type, ids: [id], relation: "" },
      };
      for (const tuple of tuples.find(filter, revision)) {
        if (!relations.includes(tuple.relation)) continue;
        if (relation === undefined || tuple.subject.relation === relation) yield tuple.entity.id;
      }
    },
    *attributeIds(type, name) {
      const filter = { entity: { type, ids: [] }, attributes: [name] };
      for (const { entity } of attributes.find(filter, revision)) yield entity.id;
    },
    *knownIds(type) {
      yield* tuples.mentionedIds(type, revision);
      const filter = { entity: { type, ids: [] }, attributes: [] };
      for (const { entity } of attributes.find(filter, revision)) yield entity.id;
    },
  };
}
