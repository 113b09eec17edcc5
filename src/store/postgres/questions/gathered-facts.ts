import { assert } from "../../../base/assert.ts";
import type { Steps } from "../../../base/steps.ts";
import type { AttributeValue, Entity, Subject } from "../../../base/tuple.ts";
import type { Facts } from "../../../memory/facts.ts";
import { gatheredBytesMax, gatheredEntitiesMax, gatheredTuplesMax } from "../../../plan/limit.ts";
import type { Evidence } from "../../answers.ts";
import { attributeValueOf } from "../../attribute-value.ts";
import { eachFact, type FactTexts, factTextsOf } from "./fact-list.ts";

/** What a gather statement read, as the interpreter reads it. */
export interface Gathered {
  /** More entities, tuples or bytes of attributes lead to the answer than are looked at for one. */
  readonly isTooLarge: boolean;
  readonly facts: Facts;
  /** Entities that were reached, and tuples that were read of hops or of listed relations. */
  readonly nodes: number;
  readonly tuples: number;
}

const none: readonly Subject[] = [];

/** Whether a gather statement met more than is looked at for one answer. */
export function isTooLarge(facts: unknown, tuplesMax: number): boolean {
  return exceeds(factTextsOf(facts), tuplesMax);
}

function exceeds({ nodes, tuples, bytes }: FactTexts, tuplesMax: number): boolean {
  return nodes > gatheredEntitiesMax || tuples > tuplesMax || bytes > gatheredBytesMax;
}

/** The evidence of a check that was gathered. */
export function* gatheredEvidence(facts: unknown, subject: Subject): Steps<Evidence> {
  const read = yield* gatheredFacts(facts, subject, gatheredTuplesMax);
  return read.isTooLarge
    ? { kind: "decided", interpretation: { kind: "too_large" } }
    : { kind: "facts", facts: read.facts };
}

/**
 * The facts of the pieces of a gather statement (see `gatherBody`), which read at most `tuplesMax` tuples. `subject` is the one whose direct tuples were read; undefined when
 * all tuples were.
 */
export function* gatheredFacts(
  facts: unknown,
  subject: Subject | undefined,
  tuplesMax: number,
): Steps<Gathered> {
  const texts = factTextsOf(facts);
  const tuples = subject === undefined ? new Set<string>() : undefined;
  const edges = yield* readEdges(texts.edges, tuples);
  const direct = new Set<string>();
  yield* eachFact(texts.direct, ([type, entityId, name]) => {
    direct.add(edgeKey(text(type), text(entityId), text(name)));
  });
  const attributes = yield* readAttributes(texts.attributes);
  const tuplesOf = (entity: Entity, relation: string): readonly Subject[] =>
    edges.get(edgeKey(entity.type, entity.id, relation)) ?? none;
  const isAsked = (asked: Subject): boolean =>
    asked.type === subject?.type && asked.id === subject.id && asked.relation === subject.relation;
  return {
    isTooLarge: exceeds(texts, tuplesMax),
    nodes: texts.nodes,
    tuples: texts.tuples,
    facts: {
      hasTuple: (entity, relations, asked) =>
        relations.some((relation) => {
          const edge = edgeKey(entity.type, entity.id, relation);
          return (
            (isAsked(asked) && direct.has(edge)) || tuples?.has(tupleKey(edge, asked)) === true
          );
        }),
      *subjectIds(entity, relations, subjectType, subjectRelation) {
        for (const relation of relations) {
          for (const target of tuplesOf(entity, relation)) {
            if (target.type !== subjectType) continue;
            if (subjectRelation === undefined || target.relation === subjectRelation) {
              yield target.id;
            }
          }
        }
      },
      subjects: (entity, relation, subjectType) =>
        tuplesOf(entity, relation).filter(({ type }) => type === subjectType),
      attribute: (entity, name) => attributes.get(edgeKey(entity.type, entity.id, name)),
    },
  };
}

/**
 * By relation of an entity, the subjects of the tuples that were read.
 *
 * @param tuples gets the key of every tuple, for subjects that the statement did not ask about
 */
function* readEdges(
  lists: readonly string[],
  tuples: Set<string> | undefined,
): Steps<ReadonlyMap<string, readonly Subject[]>> {
  const edges = new Map<string, Subject[]>();
  const known = new Map<string, Subject>();
  let last: readonly unknown[] = [];
  let key = "";
  let subjects: Subject[] = [];
  yield* eachFact(lists, (fact) => {
    const [type, entityId, name, subjectType, subjectId, subjectRelation] = fact;
    // Most tuples of a relation of an entity come one after the other, and to make a key takes time.
    if (entityId !== last[1] || name !== last[2] || type !== last[0]) {
      last = fact;
      key = edgeKey(text(type), text(entityId), text(name));
      subjects = edges.get(key) ?? [];
      edges.set(key, subjects);
    }
    const id = text(subjectId);
    let subject = known.get(id);
    // Many tuples lead to the same subject. Ids that are not kept cost the garbage collector nothing.
    if (
      subject === undefined ||
      subject.type !== subjectType ||
      subject.relation !== subjectRelation
    ) {
      subject = { type: text(subjectType), id, relation: text(subjectRelation) };
      known.set(id, subject);
    }
    subjects.push(subject);
    tuples?.add(tupleKey(key, subject));
  });
  return edges;
}

/** @param edge an `edgeKey` */
function tupleKey(edge: string, { type, id, relation }: Subject): string {
  return `${edge}\0${type}\0${id}\0${relation}`;
}

function* readAttributes(lists: readonly string[]): Steps<ReadonlyMap<string, AttributeValue>> {
  const attributes = new Map<string, AttributeValue>();
  yield* eachFact(lists, ([type, id, name, valueType, value]) => {
    attributes.set(
      edgeKey(text(type), text(id), text(name)),
      attributeValueOf(text(valueType), value),
    );
  });
  return attributes;
}

function text(value: unknown): string {
  assert(typeof value === "string", "names and ids are text");
  return value;
}

/** A relation or an attribute of an entity. */
function edgeKey(type: string, id: string, name: string): string {
  return `${type}\0${id}\0${name}`;
}
