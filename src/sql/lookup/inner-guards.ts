import type { CandidatePlan, CandidateState } from "../../plan/passes/5-drop-guards.ts";
import type { Guard } from "../../plan/plan.ts";
import { passage } from "../search/guard.ts";
import { searchWriter } from "../search/search-writer.ts";
import { Untranslatable } from "../search/writer.ts";
import { byState, depth, hops, type Writer } from "../search/writer.ts";
import { type Fragment, integer, join, sql } from "../text/fragment.ts";
import type { EntityCandidates } from "./accepted-ids.ts";
import type { BackStep } from "./back-steps.ts";
import { backTable } from "./back.ts";
import type { StepsFromSubject } from "./steps-from-subject.ts";

/** What a search from the subject's end has found, with the arrival guards of its inner states judged. */
export interface JudgedInner {
  /** CTEs, which read the CTE `back`. */
  readonly tables: readonly Fragment[];
  /** Their table with the rows of `back`, under this name, of which `sure` tells more. */
  readonly rows: Fragment;
}

/** A plan with more steps makes a statement of its own for this too long. */
const stepsMax = 64;

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
 * `passed` has the entities of `back` at which the guards of their state accept for certain. `sure_back` repeats the
 * search along those. If `back` has more such entities than `innerMax`, nothing is judged: there may be few candidates,
 * and each of them is then checked by itself.
 *
 * @param openPlan the candidate plan whose hops are definite if they have no guard of their own
 * @returns undefined if no guard can be judged so
 */
export function judgedInner(
  input: InnerInput,
  openPlan: CandidatePlan,
  { inner, isInner, last, plain, loose }: StepsFromSubject,
): JudgedInner | undefined {
  const guarded = inner.filter(({ id }) => arrivalOf(input.writer, id).length > 0);
  if (guarded.length === 0 || stepCount(openPlan) > stepsMax) return undefined;
  const passed = passedTable(input, guarded);
  if (passed === undefined) return undefined;
  const isGuarded = (row: Fragment): Fragment => isIn(row, guarded);
  const goesOn = (step: BackStep): boolean => step.isDefinite && !last.includes(step);
  const steps = { plain: plain.filter(goesOn), loose: loose.filter(goesOn) };
  const sureBack = backTable({ ...input, candidatePlan: openPlan }, inner, steps, {
    name: sql`sure_back`,
    kept: (row) => sql`
      ${row}.sure
      and exists (select 1 from passed)
      and (
        not ${isGuarded(row)}
        or (${row}.state, ${row}.id) in (select p.state, p.id from passed p)
      )
    `,
  });
  // The arrival guards of the question are judged at the candidates.
  const before = guarded.filter(({ id }) => !isInner || id !== 0);
  const own = before.length === 0 ? sql`b.sure` : sql`(b.sure and not ${isIn(sql`b`, before)})`;
  const near = sql`select s.state, s.id from sure_back s where ${hops(sql`s.level`)} <= ${halfDepth}`;
  // A condition, since joins of many rows by a hash are switched off.
  const rows = sql`
    judged_back as materialized (
      select s.state, s.id, s.level, true as sure
      from sure_back s
      where ${hops(sql`s.level`)} <= ${halfDepth}
      union all
      select b.state, b.id, b.level, ${own}
      from back b
      where ((b.state, b.id) in (${near})) is not true
    )
  `;
  return { tables: [passed, sureBack, rows], rows: sql`judged_back back` };
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
function passedTable(
  { scope, writer, subjectId, innerMax }: InnerInput,
  guarded: readonly CandidateState[],
): Fragment | undefined {
  // It has a budget of its own, so that what is judged twice is not refused for that.
  const own = searchWriter(scope, writer.plan, subjectId);
  const at = { id: sql`b.id`, level: sql`round(0::numeric, ${halfDepth})` };
  try {
    const entries = guarded.map(({ id }) => {
      const passed = passage(own, arrivalOf(own, id), at);
      const value =
        passed.kind === "open"
          ? sql`true`
          : passed.kind === "exact"
            ? passed.holds
            : sql`${passed.value} = 2`;
      return { state: id, value };
    });
    const holds = byState(sql`b.state`, entries, guarded.length);
    const entities = sql`
      select b.state, b.id
      from back b
      where ${isIn(sql`b`, guarded)}
      group by b.state, b.id
    `;
    return sql`
      inner_entities as materialized (${entities} limit ${innerMax} + 1),
      passed as materialized (
        select b.state, b.id
        from inner_entities b
        where (select count(*) from inner_entities) <= ${innerMax}
        and ${holds}
      )
    `;
  } catch (error) {
    if (error instanceof Untranslatable) return undefined;
    throw error;
  }
}
