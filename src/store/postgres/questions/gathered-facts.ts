import { assert } from "../../../base/assert.ts";
import { Pace, type Steps } from "../../../base/steps.ts";
import type { AttributeValue, Entity, Subject } from "../../../base/tuple.ts";
import type { Facts } from "../../../memory/facts.ts";
import { gatheredEntitiesMax, gatheredTuplesMax } from "../../../plan/limit.ts";
import type { Evidence } from "../../answers.ts";
import { attributeValueOf } from "../../attribute-value.ts";

/** What a gather statement read, as the interpreter reads it. */
export interface Gathered {
  /** More entities or tuples lead to the answer than are looked at for one. */
  readonly isTooLarge: boolean;
  readonly facts: Facts;
  /** Entities that were reached, and tuples that were read of hops or of listed relations. */
  readonly nodes: number;
  readonly tuples: number;
}

const none: readonly Subject[] = [];

/** Whether a gather statement met more than is looked at for one answer. */
export function isTooLarge(json: unknown, tuplesMax: number): boolean {
  assert(isRecord(json), "facts are an object");
  const { nodes, edges } = json;
  assert(typeof nodes === "number", "facts count their nodes");
  return nodes > gatheredEntitiesMax || listOf(edges).length > tuplesMax;
}

/** The evidence of a check that was gathered. */
export function* gatheredEvidence(json: unknown, subject: Subject): Steps<Evidence> {
  const read = yield* gatheredFacts(json, subject, gatheredTuplesMax);
  return read.isTooLarge
    ? { kind: "decided", interpretation: { kind: "too_large" } }
    : { kind: "facts", facts: read.facts };
}

/**
 * The facts of the `facts` column of a gather statement (its layout is that of `gatherBody`), which
 * read at most `tuplesMax` tuples. `subject` is the one whose direct tuples were read; undefined when
 * all tuples were.
 */
export function* gatheredFacts(
  json: unknown,
  subject: Subject | undefined,
  tuplesMax: number,
): Steps<Gathered> {
  assert(isRecord(json), "facts are an object");
  const pace = new Pace();
  const read = listOf(json["edges"]);
  const edges = yield* subjectsByRelation(read);
  const direct = new Set<string>();
  for (const fact of listOf(json["direct"])) {
    if (pace.step()) yield;
    const [type, entityId, name] = listOf(fact);
    direct.add(edgeKey(text(type), text(entityId), text(name)));
  }
  const attributes = yield* readAttributes(json["attributes"]);
  const nodes = json["nodes"];
  assert(typeof nodes === "number", "facts count their nodes");
  const tuples = subject === undefined ? yield* tupleKeys(read) : undefined;
  const tuplesOf = (entity: Entity, relation: string): readonly Subject[] =>
    edges.get(edgeKey(entity.type, entity.id, relation)) ?? none;
  const isAsked = (asked: Subject): boolean =>
    asked.type === subject?.type && asked.id === subject.id && asked.relation === subject.relation;
  return {
    isTooLarge: isTooLarge(json, tuplesMax),
    nodes,
    tuples: read.length,
    facts: {
      hasTuple: (entity, relations, asked) =>
        relations.some(
          (relation) =>
            (isAsked(asked) && direct.has(edgeKey(entity.type, entity.id, relation))) ||
            tuples?.has(tupleKey(entity, relation, asked)) === true,
        ),
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

/** By relation of an entity, the subjects of the tuples that were read. */
function* subjectsByRelation(
  read: readonly unknown[],
): Steps<ReadonlyMap<string, readonly Subject[]>> {
  const pace = new Pace();
  const edges = new Map<string, Subject[]>();
  let key = "";
  let subjects: Subject[] = [];
  for (const fact of read) {
    if (pace.step()) yield;
    const [type, entityId, name, subjectType, subjectId, subjectRelation] = listOf(fact);
    const next = edgeKey(text(type), text(entityId), text(name));
    // Most tuples of a relation of an entity come one after the other.
    if (next !== key) {
      key = next;
      subjects = edges.get(key) ?? [];
      edges.set(key, subjects);
    }
    const relation = text(subjectRelation);
    subjects.push({ type: text(subjectType), id: text(subjectId), relation });
  }
  return edges;
}

/** Every tuple that was read, for subjects that the statement did not ask about. */
function* tupleKeys(edges: readonly unknown[]): Steps<ReadonlySet<string>> {
  const pace = new Pace();
  const keys = new Set<string>();
  for (const fact of edges) {
    if (pace.step()) yield;
    const [type, id, relation, subjectType, subjectId, subjectRelation] = listOf(fact);
    const subject = {
      type: text(subjectType),
      id: text(subjectId),
      relation: text(subjectRelation),
    };
    keys.add(tupleKey({ type: text(type), id: text(id) }, text(relation), subject));
  }
  return keys;
}

function tupleKey(entity: Entity, relation: string, { type, id, relation: own }: Subject): string {
  return `${edgeKey(entity.type, entity.id, relation)}\0${type}\0${id}\0${own}`;
}

function* readAttributes(json: unknown): Steps<ReadonlyMap<string, AttributeValue>> {
  const pace = new Pace();
  const attributes = new Map<string, AttributeValue>();
  for (const fact of listOf(json)) {
    if (pace.step()) yield;
    const [type, id, name, valueType, value] = listOf(fact);
    attributes.set(
      edgeKey(text(type), text(id), text(name)),
      attributeValueOf(text(valueType), value),
    );
  }
  return attributes;
}

function listOf(json: unknown): readonly unknown[] {
  assert(Array.isArray(json), "facts are lists");
  return json;
}

function text(value: unknown): string {
  assert(typeof value === "string", "names and ids are text");
  return value;
}

/** A relation or an attribute of an entity. */
function edgeKey(type: string, id: string, name: string): string {
  return `${type}\0${id}\0${name}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
