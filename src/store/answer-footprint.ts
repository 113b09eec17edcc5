import type { JudgingPlans } from "../plan/build.ts";
import type { CandidatePlan } from "../plan/passes/5-drop-guards.ts";
import type { Plan } from "../plan/plan.ts";
import {
  candidateFootprint,
  type Footprint,
  footprintKey,
  gatherFootprint,
  searchFootprint,
} from "../sql/footprint.ts";
import type { Gather } from "../sql/gather/gather.ts";
import type { Lookup } from "../sql/lookup/lookup.ts";
import type { TailChange } from "./layer/tail.ts";
import type { CheckItem } from "./store.ts";

/** What the answers of a plan can depend on. */
export interface AnswerFootprint {
  readonly names: Footprint;
  /** An entity is asked about, and no hop leads to its type. So of this type only that entity is read. */
  readonly readsOneEntity: boolean;
  /**
   * A subject is asked about that is an entity, and no hop leads to its type. Then tuples to other entities
   * of this type decide nothing.
   */
  readonly readsOneSubject: boolean;
  /** One relation or attribute of one entity decides: to find that out costs no more than to read a tail. */
  readonly isOneProbe: boolean;
  /**
   * The answers are ids of this type, and what accepts one may accept each that is known, so the tuples and
   * attributes that make ids known count as well. Undefined if what is accepted is in `names`.
   */
  readonly knownType: string | undefined;
}

/** A check is answered by the plan, or by the interpreter from what the gather of the same plan reads. */
export function checkFootprint(plan: Plan, gather: Gather): AnswerFootprint {
  const { names, reached } = readBy([plan], gather);
  const { entityType, subjectType, subjectRelation } = plan.question;
  return {
    names,
    readsOneEntity: !reached.has(entityType),
    readsOneSubject: subjectRelation === "" && !reached.has(subjectType),
    isOneProbe: names.size <= 1 && reached.size === 0,
    knownType: undefined,
  };
}

/** A lookup has the answers of the checks of all ids that are known. `gather` is that of these checks. */
export function lookupFootprint(
  end: Lookup["end"],
  { plan, judging, candidates }: JudgingPlans & { readonly plan: Plan },
  gather: Gather,
): AnswerFootprint {
  const { names, reached } = readBy([plan, judging], gather);
  for (const name of candidateFootprint(candidates)) names.add(name);
  for (const { hops } of candidates.states.values()) {
    for (const { subjectType } of hops) reached.add(subjectType);
  }
  const { entityType, subjectType, subjectRelation } = plan.question;
  return {
    names,
    readsOneEntity: end === "subjects" && !reached.has(entityType),
    readsOneSubject: end === "entities" && subjectRelation === "" && !reached.has(subjectType),
    isOneProbe: false,
    knownType: acceptsAll(end, candidates)
      ? end === "entities"
        ? entityType
        : subjectType
      : undefined,
  };
}

/** The names that plans and a gather read, and the types that their hops lead to. */
function readBy(
  plans: readonly Plan[],
  gather: Gather,
): { readonly names: Set<string>; readonly reached: Set<string> } {
  const names = new Set(gatherFootprint(gather));
  const reached = new Set(
    gather.types.flatMap(({ hops }) => hops.map(({ subjectType }) => subjectType)),
  );
  for (const plan of plans) {
    if (plan.kind === "gather") continue;
    for (const name of searchFootprint(plan)) names.add(name);
    for (const { hops } of plan.states) for (const { hop } of hops) reached.add(hop.subjectType);
    for (const { entityType } of plan.usersets) reached.add(entityType);
  }
  return { names, reached };
}

/**
 * May something be accepted that no tuple and no attribute in the footprint names? A rule may hold for an entity
 * without any attribute; for a subject it holds, as an attribute does, for each of them.
 */
function acceptsAll(end: Lookup["end"], { states }: CandidatePlan): boolean {
  const tests = [...states.values()].flatMap((state) => state.tests);
  return tests.some(
    ({ test: { kind } }) => kind === "rule" || (kind === "attribute" && end === "subjects"),
  );
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
  if (!names.has(footprintKey(entityType, name))) return false;
  if (readsOneEntity && entityType === entity.type && entityId !== entity.id) return false;
  const isOtherSubject =
    changed?.type === subject.type && changed.relation === "" && changed.id !== subject.id;
  return !(readsOneSubject && isOtherSubject);
}
