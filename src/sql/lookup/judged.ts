import { must } from "../../base/assert.ts";
import type { CandidatePlan } from "../../plan/passes/5-drop-guards.ts";
import type { SearchPlan, State } from "../../plan/plan.ts";
import { closureTables, readClosure } from "../search/closure.ts";
import { passage } from "../search/guard.ts";
import { searchWriter, withClosure } from "../search/search-writer.ts";
import { questionVerdict } from "../search/search.ts";
import { asksForUsersets, closedVerdict, unclosedVerdict } from "../search/userset-guard.ts";
import { levelZero, type Writer } from "../search/writer.ts";
import { type Fragment, sql } from "../text/fragment.ts";
import type { EntityCandidates } from "./accepted-ids.ts";
import { entityCandidates, usersetsInBack } from "./entity-candidates.ts";
import { type SubjectCandidates, subjectCandidates } from "./subject-candidates.ts";

/** The parts of a query that finds candidates and judges them by the plan. */
export interface JudgedCandidates {
  /** CTEs, for the `with` of the query. */
  readonly tables: readonly Fragment[];
  /** Queries with the columns (id, sure, level). */
  readonly candidates: readonly Fragment[];
  /** A query of the verdict `v` of one row `found` (id, sure). */
  readonly verdict: Fragment;
}

/** A search of entities from the subject, whose candidates the plan judges. */
export function judgedEntities({
  plan,
  ...input
}: Omit<EntityCandidates, "writer"> & { readonly plan: SearchPlan }): JudgedCandidates {
  const { scope, candidatePlan, subjectId } = input;
  const writer = searchWriter(scope, plan, subjectId);
  const { tables, candidates } = entityCandidates({ ...input, writer });
  const known = usersetsInBack({ ...input, writer }, plan);
  const closure =
    known === undefined ? closureTables(scope, plan, { id: subjectId }) : readClosure(known);
  const id = sql`found.id`;
  const verdict = candidateVerdict(writer, candidatePlan, id, (state) =>
    known === undefined ? undefined : closedVerdict(writer, state, id),
  );
  return {
    tables: [...(plan.usersets.length === 0 ? [] : closure), ...tables],
    candidates,
    verdict: sql`select ${verdict} as v offset 0`,
  };
}

/** A search of subjects from the entity, whose candidates the plan judges. */
export function judgedSubjects({
  plan,
  ...input
}: Omit<SubjectCandidates, "writer"> & { readonly plan: SearchPlan }): JudgedCandidates {
  const { scope, candidatePlan, entityId } = input;
  const subject = sql`found.id`;
  const writer = searchWriter(scope, plan, subject);
  const { tables, candidates } = subjectCandidates({ ...input, writer });
  const verdict = candidateVerdict(writer, candidatePlan, entityId, (state, searched) =>
    unclosedVerdict(writer, state, entityId, searched),
  );
  return {
    tables,
    candidates,
    verdict: sql`
      ${withClosure(scope, plan, subject)}
      select ${verdict} as v offset 0
    `,
  };
}

/** Gives the verdict of a guard that asks only for usersets, for less than its search costs. */
type UsersetJudge = (state: State, searched: () => Fragment) => Fragment | undefined;

/**
 * The arrival guards of the question alone decide a definite candidate. On the path to any other
 * candidate there was a guard or a test, so the plan decides it, as in a check.
 */
function candidateVerdict(
  writer: Writer,
  candidatePlan: CandidatePlan,
  entityId: Fragment,
  judgeUsersets: UsersetJudge,
): Fragment {
  const stateOf = (id: number) =>
    must(writer.plan.states[id], "a plan's states refer to each other");
  const at = { id: entityId, level: levelZero };
  const shortened: Writer = {
    ...writer,
    judge: (number, place) => {
      const state = stateOf(number);
      const searched = (): Fragment => writer.judge(number, place);
      const short = asksForUsersets(writer, state) ? judgeUsersets(state, searched) : undefined;
      return short ?? searched();
    },
  };
  const passed = passage(shortened, stateOf(0).arrival, at);
  const definite =
    passed.kind === "open"
      ? sql`2`
      : passed.kind === "exact"
        ? sql`case when ${passed.holds} then 2 else 0 end`
        : passed.value;
  if (hasDoubt(candidatePlan)) {
    const asked = sql`(select x.v from (${questionVerdict(writer, entityId)}) x)`;
    return sql`case when found.sure then ${definite} else ${asked} end`;
  }
  // Without guards and tests, only a path that is too long makes a candidate not definite.
  return sql`least(${definite}, case when found.sure then 2 else 1 end)`;
}

function hasDoubt({ states }: CandidatePlan): boolean {
  return [...states.values()].some(
    (state) =>
      state.hops.some((hop) => !hop.isDefinite) ||
      state.tests.some(
        ({ test, isDefinite }) => !isDefinite || test.kind === "attribute" || test.kind === "rule",
      ),
  );
}
