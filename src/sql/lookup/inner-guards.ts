import type { CandidatePlan, CandidateState } from "../../plan/passes/5-drop-guards.ts";
import type { Guard } from "../../plan/plan.ts";
import { behind, passage } from "../search/guard.ts";
import { searchWriter } from "../search/search-writer.ts";
import { byState, depth, hops, Untranslatable, type Writer } from "../search/writer.ts";
import { type Fragment, integer, join, sql } from "../text/fragment.ts";
import type { EntityCandidates } from "./accepted-ids.ts";
import { type BackStep, ifOpen } from "./back-steps.ts";
import { backTable } from "./back.ts";
import type { StepsFromSubject } from "./steps-from-subject.ts";

/** What a search from the subject's end has found, with the arrival guards of its inner states judged. */
export interface JudgedInner {
  /** CTEs, which read the CTEs `back` and `candidates`. */
  readonly tables: readonly Fragment[];
  /** A condition on a row `c` of `candidates`: a definite path leads there along inner entities that accept. */
  readonly leadsTo: Fragment;
}

/** A plan with more steps makes a statement of its own for this too long. */
const stepsMax = 64;

/** Whether a row `c` of candidates ends a definite path that is short enough. */
const isSure = sql`c.sure and ${hops(sql`c.level`)} <= ${depth}`;

/** Whether a row `c` of candidates needs no check of its own, but for the arrival guards of the question. */
export function needsNoCheck(inner: JudgedInner | undefined): Fragment {
  return inner === undefined ? isSure : sql`(${isSure}) or ${inner.leadsTo}`;
}

/**
 * Only paths of at most half of the depth become sure. So a guard has the other half left at any entity of such a path.
 * What is certain within that is also certain within more, which a check of the candidate may have left there.
 */
const halfDepth = sql`(${depth} / 2)`;

interface InnerInput extends EntityCandidates {
  readonly innerMax: Fragment;
  readonly writer: Writer;
}

/**
 * Judges the arrival guards of inner states once at each entity, and not once for each candidate that is reached through
 * it. So the documents of a folder that may be seen need no check of their own.
 *
 * The CTE `candidates` has (id, sure, level, state, via): the last two say which row of `back` a candidate comes from,
 * null if by a step with a guard. `passed` has the entities of `back` at which the guards of their state accept for
 * certain, and `sure_back` repeats the search along those. A guard costs less than the check of a candidate, which
 * judges one at least. So nothing is judged if `back` has more than twice as many such entities as candidates need a
 * check: of few candidates a check of each costs less.
 *
 * @returns undefined if no guard can be judged so
 */
export function judgedInner(
  input: InnerInput,
  { inner, last, plain, loose }: StepsFromSubject,
): JudgedInner | undefined {
  const guarded = inner.filter(({ id }) => arrivalOf(input.writer, id).length > 0);
  if (guarded.length === 0 || stepCount(input.candidatePlan) > stepsMax) return undefined;
  const tables = passedTables(input, guarded);
  if (tables === undefined) return undefined;
  const open = (steps: readonly BackStep[]): readonly BackStep[] =>
    steps.filter((step) => step.isOpen && !last.includes(step)).map(ifOpen);
  const sureBack = backTable(
    input,
    inner,
    { plain: open(plain), loose: open(loose) },
    {
      name: sql`sure_back`,
      kept: (row) => sql`
        ${row}.sure
        and exists (select 1 from passed)
        and (
          not ${isIn(row, guarded)}
          or (${row}.state, ${row}.id) in (select p.state, p.id from passed p)
        )
      `,
    },
  );
  const near = sql`select s.state, s.id from sure_back s where ${hops(sql`s.level`)} <= ${halfDepth}`;
  return {
    tables: [...tables, sureBack],
    // `is true` keeps the planner from making a join of it.
    leadsTo: sql`((c.state, c.via) in (${near})) is true`,
  };
}

function arrivalOf({ plan }: Writer, state: number): readonly Guard[] {
  return plan.states[state]?.arrival ?? [];
}

function stepCount({ states }: CandidatePlan): number {
  return [...states.values()].reduce(
    (sum, { hops: ways, tests }) => sum + ways.length + tests.length,
    0,
  );
}

function isIn(row: Fragment, states: readonly CandidateState[]): Fragment {
  const ids = join(
    states.map(({ id }) => integer(id)),
    ", ",
  );
  return sql`(${row}.state in (${ids}))`;
}

/** Undefined if the guards cannot be written once more. */
function passedTables(
  { scope, writer, subjectId, innerMax }: InnerInput,
  guarded: readonly CandidateState[],
): readonly Fragment[] | undefined {
  // It has a budget of its own, so that what is judged twice is not refused for that.
  const own = searchWriter(scope, writer.plan, subjectId);
  const at = { id: sql`b.id`, level: sql`round(0::numeric, ${halfDepth})` };
  try {
    const entries = guarded.map(({ id }) => {
      const passed = passage(own, arrivalOf(own, id), at);
      return { state: id, value: behind(passed, sql`2`) };
    });
    const verdict = byState(sql`b.state`, entries, guarded.length);
    // A candidate that is sure by one row needs no check for another one.
    const unsure = sql`
      select least(
        2 * coalesce(sum(case when ${isSure} then -1 when c.state is null then 0 else 1 end), 0),
        ${innerMax}
      ) as most
      from candidates c
    `;
    const entities = sql`
      select b.state, b.id
      from back b
      where ${isIn(sql`b`, guarded)}
      and (select u.most from unsure u) > 0
      group by b.state, b.id
      limit (select greatest(u.most, 0) + 1 from unsure u)
    `;
    const passed = sql`
      select b.state, b.id
      from inner_entities b
      where (select count(*) from inner_entities) <= (select u.most from unsure u)
      and ${verdict} = 2
    `;
    return [
      sql`unsure as materialized (${unsure})`,
      sql`inner_entities as materialized (${entities})`,
      sql`passed as materialized (${passed})`,
    ];
  } catch (error) {
    if (error instanceof Untranslatable) return undefined;
    throw error;
  }
}
