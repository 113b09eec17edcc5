import { assert, must } from "../../../base/assert.ts";
import { Pace, type Steps } from "../../../base/steps.ts";
import type { AttributeValue, Subject } from "../../../base/tuple.ts";
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
  const edges = new Map<string, { type: string; id: string; relation: string }[]>();
  const tuples = new Set<string>();
  const read = listOf(json["edges"]);
  for (const fact of read) {
    if (pace.step()) yield;
    const edge = texts(fact);
    const [type, id, relation, subjectType, subjectId, subjectRelation] = edge;
    const target = {
      type: must(subjectType, "an edge has a subject"),
      id: must(subjectId, "an edge has a subject"),
      relation: must(subjectRelation, "an edge has a subject"),
    };
    tuples.add(joinedKey(...edge));
    const key = joinedKey(type, id, relation);
    const known = edges.get(key);
    if (known === undefined) edges.set(key, [target]);
    else known.push(target);
  }
  const direct = new Set(listOf(json["direct"]).map((fact) => joinedKey(...texts(fact))));
  const attributes = readAttributes(json["attributes"]);
  const nodes = json["nodes"];
  assert(typeof nodes === "number", "facts count their nodes");
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
            (isAsked(asked) && direct.has(joinedKey(entity.type, entity.id, relation))) ||
            tuples.has(
              joinedKey(entity.type, entity.id, relation, asked.type, asked.id, asked.relation),
            ),
        ),
      subjectIds: (entity, relations, subjectType, subjectRelation) =>
        relations.flatMap((relation) =>
          (edges.get(joinedKey(entity.type, entity.id, relation)) ?? [])
            .filter(
              (target) =>
                target.type === subjectType &&
                (subjectRelation === undefined || target.relation === subjectRelation),
            )
            .map((target) => target.id),
        ),
      subjects: (entity, relation, subjectType) =>
        (edges.get(joinedKey(entity.type, entity.id, relation)) ?? []).filter(
          ({ type }) => type === subjectType,
        ),
      attribute: (entity, name) => attributes.get(joinedKey(entity.type, entity.id, name)),
    },
  };
}

function readAttributes(json: unknown): Map<string, AttributeValue> {
  assert(Array.isArray(json), "facts are lists");
  return new Map(
    json.map((fact: unknown) => {
      assert(Array.isArray(fact), "a fact is a list");
      const [type, id, name, valueType, value]: unknown[] = fact;
      assert(typeof valueType === "string", "an attribute has a type");
      return [joinedKey(text(type), text(id), text(name)), attributeValueOf(valueType, value)];
    }),
  );
}

function listOf(json: unknown): readonly unknown[] {
  assert(Array.isArray(json), "facts are lists");
  return json;
}

function texts(fact: unknown): string[] {
  return listOf(fact).map(text);
}

function text(value: unknown): string {
  assert(typeof value === "string", "names and ids are text");
  return value;
}

function joinedKey(...parts: readonly (string | undefined)[]): string {
  return parts.join("\0");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
