import { Pace, type Steps } from "../base/steps.ts";
import type { CandidatePlan } from "../plan/passes/5-drop-guards.ts";
import type { Question } from "../plan/question.ts";
import type { Gather } from "../sql/gather/gather.ts";
import type { Lookup } from "../sql/lookup/lookup.ts";
import type { TailChange } from "./layer/tail.ts";
import type { CheckItem } from "./store.ts";

/** What the answers of a plan can depend on. */
export interface AnswerFootprint {
  /** Relations and attributes by their type. Their names are those of the schema, and take no place of their own. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
  /** An entity is asked about, and no hop leads to its type. So of this type only that entity is read. */
  readonly readsOneEntity: boolean;
  /**
   * A subject is asked about that is an entity, and no hop leads to its type. Then tuples to other entities
   * of this type decide nothing.
   */
  readonly readsOneSubject: boolean;
  /** One relation or attribute of one entity decides: a search costs no more than to read which changes there were. */
  readonly isOneProbe: boolean;
  /**
   * The answers are ids of this type, and what accepts one may accept each that is known, so the tuples and
   * attributes that make ids known count as well. Undefined if what is accepted is in `names`.
   */
  readonly knownType: string | undefined;
}

/** `gather` is that of the plan: what the search of the same plan reads is part of it. */
export function* checkFootprint(question: Question, gather: Gather): Steps<AnswerFootprint> {
  const { names, reached } = yield* readBy(gather);
  const { entityType, subjectType, subjectRelation } = question;
  return {
    names,
    readsOneEntity: !reached.has(entityType),
    readsOneSubject: subjectRelation === "" && !reached.has(subjectType),
    isOneProbe: reached.size === 0 && isOneName(names),
    knownType: undefined,
  };
}

/** A lookup has the answers of the checks of all ids that are known. `gather` is that of these checks. */
export function* lookupFootprint(
  end: Lookup["end"],
  candidates: CandidatePlan,
  gather: Gather,
): Steps<AnswerFootprint> {
  const { names, reached } = yield* readBy(gather);
  const { entityType, subjectType, subjectRelation } = candidates.question;
  return {
    names,
    readsOneEntity: end === "subjects" && !reached.has(entityType),
    readsOneSubject: end === "entities" && subjectRelation === "" && !reached.has(subjectType),
    isOneProbe: false,
    knownType: (yield* acceptsAll(end, candidates))
      ? end === "entities"
        ? entityType
        : subjectType
      : undefined,
  };
}

interface ReadByGather {
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
  /** The types that hops lead to. */
  readonly reached: ReadonlySet<string>;
}

function* readBy({ types }: Gather): Steps<ReadByGather> {
  const names = new Map<string, Set<string>>();
  const reached = new Set<string>();
  const pace = new Pace();
  for (const { entityType, hops, direct, listed, attributes } of types) {
    const ofType = names.get(entityType) ?? new Set();
    names.set(entityType, ofType);
    for (const { subjectType } of hops) reached.add(subjectType);
    const read = [...hops.map(({ relations }) => relations), direct, listed, attributes];
    for (const list of read) {
      for (const name of list) {
        if (pace.step()) yield;
        ofType.add(name);
      }
    }
  }
  return { names, reached };
}

function isOneName(names: AnswerFootprint["names"]): boolean {
  let count = 0;
  for (const { size } of names.values()) count += size;
  return count <= 1;
}

/**
 * May something be accepted that no tuple and no attribute in the footprint names? A rule may hold for an entity
 * without any attribute; for a subject it holds, as an attribute does, for each of them.
 */
function* acceptsAll(end: Lookup["end"], { states }: CandidatePlan): Steps<boolean> {
  const pace = new Pace();
  for (const { tests } of states.values()) {
    if (pace.step()) yield;
    const isAny = tests.some(
      ({ test: { kind } }) => kind === "rule" || (kind === "attribute" && end === "subjects"),
    );
    if (isAny) return true;
  }
  return false;
}

/**
 * Can the change make another answer of a question whose plan has the footprint? Of the item only the ids count
 * that the question names: the one that a lookup looks for may be any.
 */
export function touches(
  { names, readsOneEntity, readsOneSubject, knownType }: AnswerFootprint,
  { entity, subject }: CheckItem,
  change: TailChange,
): boolean {
  const { entityType, entityId, name, subject: changed } = change;
  if (knownType !== undefined && [entityType, changed?.type].includes(knownType)) return true;
  if (names.get(entityType)?.has(name) !== true) return false;
  if (readsOneEntity && entityType === entity.type && entityId !== entity.id) return false;
  const isOtherSubject =
    changed?.type === subject.type && changed.relation === "" && changed.id !== subject.id;
  return !(readsOneSubject && isOtherSubject);
}
