import type { Plan } from "../plan/plan.ts";
import {
  type Footprint,
  footprintKey,
  gatherFootprint,
  searchFootprint,
} from "../sql/footprint.ts";
import type { Gather } from "../sql/gather/gather.ts";
import type { TailChange } from "./layer/tail.ts";
import type { CheckItem } from "./store.ts";

/** What the answers of a plan can depend on. */
export interface AnswerFootprint {
  readonly names: Footprint;
  /** No hop leads to the type of the asked entity, so of this type only that entity is read. */
  readonly readsOneEntity: boolean;
  /**
   * The asked subject is an entity, and no hop leads to its type. Then tuples to other entities of this
   * type decide nothing.
   */
  readonly readsOneSubject: boolean;
  /** One relation or attribute of one entity decides: to find that out costs no more than to read a tail. */
  readonly isOneProbe: boolean;
}

/** A check is answered by the plan, or by the interpreter from what the gather of the same plan reads. */
export function answerFootprint(plan: Plan, gather: Gather): AnswerFootprint {
  const { entityType, subjectType, subjectRelation } = plan.question;
  const reached = new Set(
    gather.types.flatMap(({ hops }) => hops.map(({ subjectType: type }) => type)),
  );
  const names = new Set(gatherFootprint(gather));
  if (plan.kind === "search") {
    for (const name of searchFootprint(plan)) names.add(name);
    for (const { hops } of plan.states) for (const { hop } of hops) reached.add(hop.subjectType);
    for (const userset of plan.usersets) reached.add(userset.entityType);
  }
  return {
    names,
    readsOneEntity: !reached.has(entityType),
    readsOneSubject: subjectRelation === "" && !reached.has(subjectType),
    isOneProbe: names.size <= 1 && reached.size === 0,
  };
}

/** Can the change make another answer of an item whose plan has the footprint? */
export function touches(
  { names, readsOneEntity, readsOneSubject }: AnswerFootprint,
  { entity, subject }: CheckItem,
  change: TailChange,
): boolean {
  const { entityType, entityId, name, subject: changed } = change;
  if (!names.has(footprintKey(entityType, name))) return false;
  if (readsOneEntity && entityType === entity.type && entityId !== entity.id) return false;
  const isOtherSubject =
    changed?.type === subject.type && changed.relation === "" && changed.id !== subject.id;
  return !(readsOneSubject && isOtherSubject);
}
