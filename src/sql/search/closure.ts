import type { SearchPlan, Userset } from "../../plan/plan.ts";
import { lateralBranches, type Scope, tupleProbe } from "../state/source.ts";
import { type Fragment, integer, join, literal, sql } from "../text/fragment.ts";

/**
 * The most usersets that a closure reads before the search goes on from the entity instead: each
 * costs a probe of its own, so a subject in thousands of groups must not pay for all of them.
 */
const closureMax = 100;

const beyondMax = sql`offset ${integer(closureMax)}`;

/**
 * The search from the subject's end, as CTEs: `closure` has the usersets that the subject stands in,
 * directly or through others, level by level; `cut_off` is one row with `v`: there are more than are
 * read. Nothing runs until a search first asks for it.
 */
export function closureTables(
  scope: Scope,
  plan: SearchPlan,
  subject: { readonly id: Fragment },
): Fragment[] {
  const starts = closureStarts(scope, plan, subject);
  const steps = closureSteps(scope, plan);
  const start = join(starts, " union all ");
  const closure =
    steps.length === 0
      ? sql`closure(userset, id, level) as (${start})`
      : sql`
        closure(userset, id, level) as (
          (${start})
          union
          select p.userset, p.id, c.level * 0.0
          from closure c
          cross join ${lateralBranches(steps)} p
        )
      `;
  // An index alone tells of most subjects that stand in too many, for a third of what it takes to
  // read them. With several kinds of usersets, each would cost all other checks another probe.
  const manyDirect = starts.length === 1 ? sql`exists (${start} ${beyondMax}) or` : sql``;
  const isBeyond = sql`
    select
      ${manyDirect}
      exists (select 1 from closure ${beyondMax}) as v
  `;
  return [closure, sql`cut_off as materialized (${isBeyond})`];
}

/** The usersets that the subject stands in by a tuple of its own, or that it is. */
function closureStarts(
  scope: Scope,
  { usersets, question }: SearchPlan,
  subject: { readonly id: Fragment },
): Fragment[] {
  const subjectType = literal(question.subjectType);
  const subjectRelation = literal(question.subjectRelation);
  return usersets.flatMap((userset, index) => [
    ...(userset.self ? [sql`select ${integer(index)}, ${subject.id}, 0::numeric`] : []),
    ...(userset.direct
      ? [
          tupleProbe(
            scope,
            sql`${integer(index)}, r.entity_id, 0::numeric`,
            sql`
              r.subject_id = ${subject.id}
              and r.subject_type = ${subjectType}
              and r.subject_relation = ${subjectRelation}
              and ${isOf(userset)}
            `,
            {
              end: "subject",
              type: subjectType,
              id: subject.id,
              relation: subjectRelation,
              entity: kindOf(userset),
            },
          ),
        ]
      : []),
  ]);
}

/** From a row `c` of the closure to the usersets that it stands in. */
function closureSteps(scope: Scope, { usersets }: SearchPlan): Fragment[] {
  return usersets.flatMap((userset, index) =>
    userset.members.flatMap((member) => {
      const inner = usersets[member];
      if (inner === undefined) return [];
      const ofMember = usersets.length === 1 ? sql`` : sql`c.userset = ${integer(member)} and`;
      return [
        tupleProbe(
          scope,
          sql`${integer(index)} as userset, r.entity_id as id`,
          sql`
            ${ofMember}
            r.subject_id = c.id
            and r.subject_type = ${literal(inner.entityType)}
            and r.subject_relation = ${literal(inner.relation)}
            and ${isOf(userset)}
          `,
          {
            end: "subject",
            type: literal(inner.entityType),
            id: sql`c.id`,
            relation: literal(inner.relation),
            entity: kindOf(userset),
          },
        ),
      ];
    }),
  );
}

/** The same where another table has all of the usersets anyway, as the rows of the queries. */
export function readClosure(queries: readonly Fragment[]): Fragment[] {
  const all = join(queries, " union all ");
  return [
    sql`closure(userset, id, level) as materialized (${all})`,
    sql`cut_off as materialized (select false as v)`,
  ];
}

/**
 * True when the closure has more usersets than are read: that one is not among them then means
 * nothing. Asked before anything else of the closure, it keeps the rest of it from being read.
 */
export const isCutOff = sql`(select c.v from cut_off c)`;

/**
 * True when the id is one of the closure's usersets of the kind with that index. The closure is
 * hashed once for the statement, so a probe costs no more for an entity with many usersets and a
 * subject in many groups than the two of them added. A `condition` on the row `c` picks among them.
 */
export function isClosed(
  plan: SearchPlan,
  userset: Fragment,
  id: Fragment,
  condition?: Fragment,
): Fragment {
  const where = condition === undefined ? sql`` : sql` where ${condition}`;
  return plan.usersets.length === 1
    ? sql`${id} in (select c.id from closure c${where})`
    : sql`(${userset}, ${id}) in (select c.userset, c.id from closure c${where})`;
}

function kindOf(userset: Userset): { readonly type: Fragment; readonly relation: Fragment } {
  return { type: literal(userset.entityType), relation: literal(userset.relation) };
}

function isOf(userset: Userset): Fragment {
  const { type, relation } = kindOf(userset);
  return sql`r.entity_type = ${type} and r.relation = ${relation}`;
}
