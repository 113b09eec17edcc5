import type { SearchPlan, State } from "../../plan/plan.ts";
import { isCutOff } from "../search/closure.ts";
import { depth, hops, numbered } from "../search/writer.ts";
import type { StatementScope } from "../state/source.ts";
import { type Fragment, integer, join, literal, sql } from "../text/fragment.ts";
import { type IdReading, page, tupleIds } from "./candidate.ts";

/**
 * The ids at which a guard accepts, read once for all candidates: from the other end, up to the last
 * candidate. Where these are more than the candidates, or more places lead to them, a probe for each
 * candidate costs less, and the set is not whole.
 */
export interface GuardSet {
  /** CTEs, which read the CTEs `found` and `span`. */
  readonly tables: readonly Fragment[];
  /** The verdict of the guard at the row `found`, if the set is whole; else the one that is given. */
  readonly verdict: (probed: Fragment) => Fragment;
  /** The same as a boolean, for a guard that is never unknown. */
  readonly holds: (probed: Fragment) => Fragment;
}

/** How many candidates there are, and which is the last: a CTE that reads `found`. */
export const spanTable = sql`
  span as materialized (
    select count(*)::int as candidates, max(found.id) as last from found
  )
`;

/**
 * Ids of the page up to the last candidate. The id is compared together with the column before it: a
 * scan of the index ends there. No branch has a limit, since what reads them stops.
 */
export const amongCandidates: IdReading = {
  wanted: ({ id, before }) =>
    before === undefined
      ? sql`${page.wanted({ id })} and ${id} <= span.last`
      : sql`
        ${page.wanted({ id, before })} and (${before.column}, ${id}) <= (${before.value}, span.last)
      `,
  gathered: (branches) =>
    join(
      branches.map(({ query }) => query),
      " union all ",
    ),
  gatheredTwice: ({ query }) => query,
};

/** Whether a guard asks for tuples to the subject and for usersets alone. */
export function canBeSet({ arrival, tests, hops: ways }: State): boolean {
  return (
    arrival.length === 0 &&
    tests.length + ways.length > 0 &&
    tests.every(
      ({ guards, test }) => guards.length === 0 && (test.kind === "direct" || test.kind === "self"),
    ) &&
    ways.every(({ guards, hop }) => guards.length === 0 && hop.kind === "userset")
  );
}

/** The entities at which such a guard accepts the subject, whose usersets are the CTE `closure`. */
export function entitySet(
  scope: StatementScope,
  { question }: SearchPlan,
  { id, entityType, tests, hops: ways }: State,
  {
    subjectId,
    isCutOffPossible,
  }: { readonly subjectId: Fragment; readonly isCutOffPossible: boolean },
): GuardSet {
  const direct = tests.flatMap(({ test }) =>
    test.kind === "direct"
      ? [
          tupleIds(scope, amongCandidates, test.relations, {
            end: "entity",
            entityType: literal(entityType),
            subjectType: literal(question.subjectType),
            subjectId,
            subjectRelation: literal(question.subjectRelation),
          }),
        ]
      : [sql`select ${subjectId}`],
  );
  // The offset keeps the planner from a join that begins with all tuples of the tenant.
  const led = ways.flatMap(({ hop }) => {
    if (hop.kind !== "userset") return [];
    const ids = tupleIds(scope, amongCandidates, hop.relations, {
      end: "entity",
      entityType: literal(entityType),
      subjectType: literal(hop.subjectType),
      subjectId: sql`c.id`,
      subjectRelation: literal(hop.subjectRelation),
    });
    return [
      sql`
        select p.id, ${hops(sql`c.level`)} < ${depth}
        from closure c
        cross join lateral (select q.id from (${ids}) q offset 0) p
        where c.userset = ${integer(hop.userset)}
      `,
    ];
  });
  if (led.length === 0) return guardSet(id, direct, led, sql``);
  const isWhole = isCutOffPossible ? sql`and not ${isCutOff}` : sql``;
  const isFew = sql`and (select count(*) from closure) <= span.candidates`;
  return guardSet(id, direct, led, sql`${isWhole} ${isFew}`);
}

/** The subjects of which the entity has a tuple that such a guard asks for. */
export function subjectSet(
  scope: StatementScope,
  { question }: SearchPlan,
  { id, entityType, tests }: State,
  entityId: Fragment,
): GuardSet {
  const direct = tests.flatMap(({ test }) =>
    test.kind === "direct"
      ? [
          tupleIds(scope, amongCandidates, test.relations, {
            end: "subject",
            entityType: literal(entityType),
            entityId,
            subjectType: literal(question.subjectType),
            subjectRelation: literal(question.subjectRelation),
          }),
        ]
      : [sql`select ${entityId}`],
  );
  return guardSet(id, direct, [], sql``);
}

/**
 * `direct` has the column id; `led` a second one: whether the path is short enough. The first row of the
 * set has the id "", which no entity has: it says that the set was worth reading. It is not looked up, since
 * nothing is looked up in an empty set.
 */
function guardSet(
  state: number,
  direct: readonly Fragment[],
  led: readonly Fragment[],
  isWorth: Fragment,
): GuardSet {
  const accepted = numbered("accepted", state);
  const queries = [
    sql`select '' collate "C" as id, false as near`,
    ...direct.map((query) => sql`select d.id, true from (${query}) d(id)`),
    ...led,
  ];
  const isWhole = sql`
    (
      select count(*) > 0 and count(*) <= (select span.candidates + 1 from span) from ${accepted}
    )
  `;
  const among = (where: Fragment): Fragment =>
    sql`(found.id in (select a.id from ${accepted} a where a.id <> '' ${where})) is true`;
  return {
    tables: [
      sql`
        ${accepted}(id, near) as materialized (
          select a.id, a.near
          from span
          cross join lateral (${join(queries, " union all ")}) a
          where span.candidates > 1
          ${isWorth}
          limit (select span.candidates + 2 from span)
        )
      `,
    ],
    verdict: (probed) =>
      sql`
        case
          when ${isWhole} then case
            when ${among(sql``)} then case when ${among(sql`and a.near`)} then 2 else 1 end
            else 0
          end
          else ${probed}
        end
      `,
    holds: (probed) => sql`case when ${isWhole} then ${among(sql``)} else ${probed} end`,
  };
}
