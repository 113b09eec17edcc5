import type { SearchPlan, Userset } from "../../plan/plan.ts";
import { lateralBranches, type StatementScope, tupleProbe } from "../state/source.ts";
import { type Fragment, integer, join, literal, sql } from "../text/fragment.ts";

/**
 * The most usersets that a closure reads before the search goes on from the entity instead: each
 * costs a probe of its own, so a subject in thousands of groups must not pay for all of them.
 */
const closureMax = 100;

const beyondMax = sql`offset ${integer(closureMax)}`;

/**
 * The search from the subject's end, as CTEs: `closure` has the usersets that the subject is in,
 * directly or through others, level by level. `cut_off` is one row with `v`: there are more usersets
 * than are read. Nothing runs until a search first asks for it.
 */
export function closureTables(
  scope: StatementScope,
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
  // For most subjects in too many usersets one probe of an index finds this out, in a third of the
  // time that reading the usersets takes. With several kinds of usersets, each kind would cost all
  // other checks another probe.
  const manyDirect = starts.length === 1 ? sql`exists (${start} ${beyondMax}) or` : sql``;
  const isBeyond = sql`
    select
      ${manyDirect}
      exists (select 1 from closure ${beyondMax}) as v
  `;
  return [closure, sql`cut_off as materialized (${isBeyond})`];
}

/** The usersets that the subject is in by a tuple of its own, and the subject if it is one. */
function closureStarts(
  scope: StatementScope,
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

/** From a row `c` of the closure to the usersets that it is in. */
function closureSteps(scope: StatementScope, { usersets }: SearchPlan): Fragment[] {
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

/** The same if another table has all of the usersets: they are the rows of the queries. */
export function readClosure(queries: readonly Fragment[]): Fragment[] {
  const all = join(queries, " union all ");
  return [
    sql`closure(userset, id, level) as materialized (${all})`,
    sql`cut_off as materialized (select false as v)`,
  ];
}

/**
 * True when the closure has more usersets than are read. Then a userset that is not among them may
 * still be one of the subject. If it is asked first, the rest of the closure is not read.
 */
export const isCutOff = sql`(select c.v from cut_off c)`;

/**
 * True when the id is one of the closure's usersets of the kind with that index. The closure is
 * hashed once for the statement, so the cost is the sum of the entity's usersets and the subject's
 * groups, not their product. A `condition` on the row `c` picks among them.
 */
export function isClosed(
  plan: SearchPlan,
  userset: Fragment,
  id: Fragment,
  condition?: Fragment,
): Fragment {
  const where = condition === undefined ? sql`` : sql`where ${condition}`;
  return plan.usersets.length === 1
    ? sql`
      ${id} in (
        select c.id from closure c
        ${where}
      )
    `
    : sql`
      (${userset}, ${id}) in (
        select c.userset, c.id from closure c
        ${where}
      )
    `;
}

function kindOf(userset: Userset): { readonly type: Fragment; readonly relation: Fragment } {
  return { type: literal(userset.entityType), relation: literal(userset.relation) };
}

function isOf(userset: Userset): Fragment {
  const { type, relation } = kindOf(userset);
  return sql`r.entity_type = ${type} and r.relation = ${relation}`;
}
