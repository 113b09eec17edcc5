import type { Steps } from "../../../base/steps.ts";
import type { AttributeValue, Entity, Subject } from "../../../base/tuple.ts";
import { type Facts, fewSubjects } from "../../../memory/facts.ts";
import { gatheredBytesMax, gatheredEntitiesMax, gatheredTuplesMax } from "../../../plan/limit.ts";
import type { Evidence } from "../../answers.ts";
import { attributeValueOf } from "../../attribute-value.ts";
import { eachFact, type FactTexts, factTextsOf } from "./fact-list.ts";
import { eachTuple, factText, TupleCodeReader } from "./tuple-list.ts";

/** What a gather statement read, as the interpreter reads it. */
export interface Gathered {
  /** More entities, tuples or bytes of attributes lead to the answer than are looked at for one. */
  readonly isTooLarge: boolean;
  readonly facts: Facts;
  /** Entities that were reached, and tuples that were read of hops or of listed relations. */
  readonly nodes: number;
  readonly tuples: number;
}

/** Subjects of one kind in a relation of an entity. */
interface SubjectGroup {
  readonly type: string;
  readonly relation: string;
  readonly ids: string[];
}

/** By entity type, by relation, by entity id. */
type Edges = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, readonly SubjectGroup[]>>>;

const none: readonly SubjectGroup[] = [];
const noIds: readonly string[] = [];

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
 * The facts of the pieces of a gather statement (see `gatherBody`), which read at most `tuplesMax` tuples. `subject`
 * is the one whose direct tuples were read; undefined when all tuples were.
 */
export function* gatheredFacts(
  facts: unknown,
  subject: Subject | undefined,
  tuplesMax: number,
): Steps<Gathered> {
  const texts = factTextsOf(facts);
  const codes = new TupleCodeReader(texts.names);
  const tuples = subject === undefined ? new Set<string>() : undefined;
  const edges = yield* readEdges(texts.edges, codes, tuples);
  const direct = yield* readDirect(texts.direct, codes);
  const attributes = yield* readAttributes(texts.attributes);
  const groupsOf = (entity: Entity, relation: string): readonly SubjectGroup[] =>
    edges.get(entity.type)?.get(relation)?.get(entity.id) ?? none;
  const isAsked = (asked: Subject): boolean =>
    asked.type === subject?.type && asked.id === subject.id && asked.relation === subject.relation;
  return {
    isTooLarge: exceeds(texts, tuplesMax),
    nodes: texts.nodes,
    tuples: texts.tuples,
    facts: {
      hasTuple: (entity, relations, asked) =>
        (direct.size > 0 || tuples !== undefined) &&
        relations.some((relation) => {
          const edge = edgeKey(entity.type, entity.id, relation);
          return (
            (isAsked(asked) && direct.has(edge)) || tuples?.has(tupleKey(edge, asked)) === true
          );
        }),
      subjectIds: (entity, relations, subjectType, subjectRelation) => {
        const groups: SubjectGroup[] = [];
        for (const relation of relations) {
          for (const group of groupsOf(entity, relation)) {
            const isOther = subjectRelation !== undefined && group.relation !== subjectRelation;
            if (group.type === subjectType && !isOther) groups.push(group);
          }
        }
        return idsOf(groups);
      },
      subjects(entity, relation, subjectType) {
        const groups = groupsOf(entity, relation).filter(({ type }) => type === subjectType);
        const count = groups.reduce((sum, { ids }) => sum + ids.length, 0);
        return count <= fewSubjects ? [...subjectsOf(groups)] : subjectsOf(groups);
      },
      attribute: (entity, name) => attributes.get(edgeKey(entity.type, entity.id, name)),
    },
  };
}

function* subjectsOf(groups: readonly SubjectGroup[]): Generator<Pick<Subject, "id" | "relation">> {
  for (const { ids, relation } of groups) for (const id of ids) yield { id, relation };
}

function idsOf(groups: readonly SubjectGroup[]): Iterable<string> {
  const [first, ...others] = groups;
  if (first === undefined) return noIds;
  return others.length === 0 ? first.ids : groups.flatMap(({ ids }) => ids);
}

/**
 * The subjects of the tuples that were read.
 *
 * @param tuples gets the key of every tuple, for subjects that the statement did not ask about
 */
function* readEdges(
  lists: readonly string[],
  codes: TupleCodeReader,
  tuples: Set<string> | undefined,
): Steps<Edges> {
  const edges = new Map<string, Map<string, Map<string, SubjectGroup[]>>>();
  let lastCode = "";
  let lastEntity = "";
  let key = "";
  let group: SubjectGroup = { type: "", relation: "", ids: [] };
  for (const [at, list] of lists.entries()) {
    if (at > 0) yield;
    eachTuple(list, (code, entityId, subjectId) => {
      // Most tuples of a relation of an entity come one after the other.
      if (entityId !== lastEntity || code !== lastCode) {
        lastCode = code;
        lastEntity = entityId;
        const { entityType, relation, subjectType, subjectRelation } = codes.read(code);
        if (tuples !== undefined) key = edgeKey(entityType, entityId, relation);
        group = { type: subjectType, relation: subjectRelation, ids: [] };
        const ofType = innerOf(edges, entityType);
        const ofRelation = innerOf(ofType, relation);
        const groups = ofRelation.get(entityId);
        if (groups === undefined) ofRelation.set(entityId, [group]);
        else groups.push(group);
      }
      group.ids.push(subjectId);
      tuples?.add(tupleKey(key, { type: group.type, id: subjectId, relation: group.relation }));
    });
  }
  return edges;
}

function innerOf<T>(outer: Map<string, Map<string, T>>, key: string): Map<string, T> {
  let inner = outer.get(key);
  if (inner === undefined) outer.set(key, (inner = new Map()));
  return inner;
}

/** The relations of entities that the asked subject itself stands in. */
function* readDirect(lists: readonly string[], codes: TupleCodeReader): Steps<ReadonlySet<string>> {
  const direct = new Set<string>();
  for (const [at, list] of lists.entries()) {
    if (at > 0) yield;
    eachTuple(list, (code, entityId) => {
      const { entityType, relation } = codes.read(code);
      direct.add(edgeKey(entityType, entityId, relation));
    });
  }
  return direct;
}

/** @param edge an `edgeKey` */
function tupleKey(edge: string, { type, id, relation }: Subject): string {
  return `${edge}\0${type}\0${id}\0${relation}`;
}

function* readAttributes(lists: readonly string[]): Steps<ReadonlyMap<string, AttributeValue>> {
  const attributes = new Map<string, AttributeValue>();
  yield* eachFact(lists, ([type, id, name, valueType, value]) => {
    attributes.set(
      edgeKey(factText(type), factText(id), factText(name)),
      attributeValueOf(factText(valueType), value),
    );
  });
  return attributes;
}

/** A relation or an attribute of an entity. */
function edgeKey(type: string, id: string, name: string): string {
  return `${type}\0${id}\0${name}`;
}
