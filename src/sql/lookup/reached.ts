import type { CandidateTest } from "../../plan/passes/5-drop-guards.ts";
import { directHolds } from "../search/test.ts";
import { depth, hops, type Writer } from "../search/writer.ts";
import { type EntityEnd, relationProbe, relationSet } from "../state/relation-set.ts";
import { type Fragment, integer, join, literal, sql } from "../text/fragment.ts";
import { type EntityCandidates, verdictAt } from "./accepted-ids.ts";
import { type BackStep, subjectState } from "./back-steps.ts";
import { stepsFromSubject } from "./steps-from-subject.ts";

/** Conditions on an entity: whether a definite path leads to it, and whether another one does. */
interface ReachedBy {
  readonly sure: Fragment;
  readonly doubtful: Fragment;
}

/** A search of entities with what judges their tests. */
type JudgingCandidates = EntityCandidates & { readonly writer: Writer };

/**
 * Whether the rows of `back` and the tests of the question accept an entity, from the entity's own end.
 *
 * @param own if `back` has the entities that are accepted: the tests that may accept others
 */
export function reachedFrom(
  input: JudgingCandidates,
  own: readonly CandidateTest[],
  id: Fragment,
): ReachedBy {
  const { isInner, last } = stepsFromSubject(input.candidatePlan);
  if (isInner) {
    const among = (where: Fragment): Fragment =>
      sql`(${id} in (select b.id from back b where b.state = 0${where})) is true`;
    const isShort = sql`${hops(sql`b.level`)} - 1 <= ${depth}`;
    const others = testsAt(input, own, id);
    return {
      sure: either([among(sql` and b.sure and ${isShort}`), ...others.map(({ sure }) => sure)]),
      doubtful: either([among(sql``), ...others.map(({ doubtful }) => doubtful)]),
    };
  }
  return reachedAtOnce(input, last, id);
}

/** Whether one of some last steps, or a test of the question, accepts an entity. */
export function reachedAtOnce(
  input: JudgingCandidates,
  last: readonly BackStep[],
  id: Fragment,
): ReachedBy {
  const { root } = stepsFromSubject(input.candidatePlan);
  const all = [
    ...stepGroups(last).map((steps) => byTuples(input, steps, id)),
    ...testsAt(input, root.tests, id),
  ];
  return {
    sure: either(all.map(({ sure }) => sure)),
    doubtful: either(all.map(({ doubtful }) => doubtful)),
  };
}

/** Steps that one probe serves. */
function stepGroups(steps: readonly BackStep[]): readonly (readonly [BackStep, ...BackStep[]])[] {
  const groups = Map.groupBy(steps, ({ at, subjectType, subjectRelation, isDefinite }) =>
    JSON.stringify([at, subjectType, subjectRelation, isDefinite]),
  );
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [[first, ...others] as const],
  );
}

/** A level of `back` counts the hop from there, too. */
const isShort = sql`${hops(sql`b.level`)} <= ${depth}`;

/** Some row of `back` is not the end of a definite path that is short enough. */
const isSomeDoubtful = sql`(select exists (select 1 from back b where not (b.sure and ${isShort})))`;

const never = sql`false`;

function byTuples(
  input: JudgingCandidates,
  steps: readonly [BackStep, ...BackStep[]],
  id: Fragment,
): ReachedBy {
  const { candidatePlan, writer, scope } = input;
  const [{ at, to, isDefinite, ...first }] = steps;
  const entityType = literal(to.entityType);
  const relations = relationSet(steps.map(({ relation }) => relation));
  if (at === subjectState(candidatePlan)) {
    const holds = directHolds(writer, { id, entityType, relations });
    return isDefinite ? { sure: holds, doubtful: never } : { sure: never, doubtful: holds };
  }
  const leadsTo = (where: Fragment): Fragment => {
    // The parentheses and `is true` keep the planner from making a join of it.
    const isReached = sql`
      and (
        r.subject_id in (select b.id from back b where b.state = ${integer(at)}${where})
      ) is true
    `;
    const end = { type: entityType, id, subject: subjectOf({ ...first }) };
    return sql`
      exists (select 1 from (${relationProbe(scope, sql`1`, relations, end, isReached)}) e offset 0)
    `;
  };
  if (!isDefinite) return { sure: never, doubtful: leadsTo(sql``) };
  return {
    sure: leadsTo(sql` and b.sure and ${isShort}`),
    doubtful: sql`(${isSomeDoubtful} and ${leadsTo(sql``)})`,
  };
}

function subjectOf({
  subjectType,
  subjectRelation,
}: Pick<BackStep, "subjectType" | "subjectRelation">): EntityEnd["subject"] {
  const type = literal(subjectType);
  return subjectRelation === undefined
    ? { known: "type", type }
    : { known: "kind", type, relation: literal(subjectRelation) };
}

/** Direct tests are steps from the subject. */
function testsAt(
  { candidatePlan, writer }: JudgingCandidates,
  tests: readonly CandidateTest[],
  id: Fragment,
): ReachedBy[] {
  const { root } = stepsFromSubject(candidatePlan);
  return tests.flatMap(({ test, isDefinite }) => {
    if (test.kind === "direct") return [];
    const verdict = verdictAt(writer, root, test, id);
    return [
      {
        sure: isDefinite ? sql`${verdict} = 2` : never,
        doubtful: sql`${verdict} > 0`,
      },
    ];
  });
}

function either(conditions: readonly Fragment[]): Fragment {
  return conditions.length === 0 ? never : sql`(${join(conditions, " or ")})`;
}
