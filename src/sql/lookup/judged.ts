import { must } from "../../base/assert.ts";
import type { CandidatePlan } from "../../plan/passes/5-drop-guards.ts";
import type { SearchPlan, State } from "../../plan/plan.ts";
import { closureTables, readClosure } from "../search/closure.ts";
import { passage } from "../search/guard.ts";
import { searchWriter, withClosure } from "../search/search-writer.ts";
import { questionVerdict } from "../search/search.ts";
import { stateHolds } from "../search/test.ts";
import { asksForUsersets, closedVerdict, unclosedVerdict } from "../search/userset-guard.ts";
import { levelZero, type ReachedEntity, type Writer } from "../search/writer.ts";
import { type Fragment, join, sql } from "../text/fragment.ts";
import type { EntityCandidates } from "./accepted-ids.ts";
import { entityCandidates, type FoundCandidates, usersetsInBack } from "./entity-candidates.ts";
import { canBeFollowed, followedGuard, type FollowedGuard } from "./followed-guards.ts";
import { canBeSet, entitySet, type GuardSet, subjectSet } from "./guard-sets.ts";
import { type SubjectCandidates, subjectCandidates } from "./subject-candidates.ts";

/** The parts of a query that finds candidates and judges them by the plan. */
export interface JudgedCandidates {
  /** CTEs, for the `with` of the query. */
  readonly tables: readonly Fragment[];
  /** Queries with the columns (id, sure, level); of subjects, with (id, sure). */
  readonly candidates: readonly Fragment[];
  /** The verdict of one row `found` (id, sure). */
  readonly verdict: Fragment;
  /** A condition on the row `s` of `span`: the verdicts are right. Undefined: they always are. */
  readonly isDecided?: Fragment | undefined;
}

/** The same for entities, whose candidates may tell from what they come. */
export interface JudgedEntities extends JudgedCandidates {
  readonly inner: FoundCandidates["inner"];
}

/**
 * The rows of `found` that are not denied, in their order, as a query of the columns (id, v). It judges them one by
 * one while they are read. A query for each row, beside it, would cost more than most verdicts.
 */
export function notDenied(verdict: Fragment): Fragment {
  return sql`
    select j.id, j.v
    from (select found.id, ${verdict} as v from found offset 0) j
    where j.v > 0
  `;
}

/**
 * A search of entities from the subject, whose candidates the plan judges. To judge them
 * together, which reads at once what its guards accept, they must be the CTE `found`.
 */
export function judgedEntities({
  plan,
  asksAgain = false,
  judgesTogether,
  ...input
}: Omit<EntityCandidates, "writer"> & {
  readonly plan: SearchPlan;
  /** The plan decides each candidate that is not sure, although its path may be short enough. */
  readonly asksAgain?: boolean;
  readonly judgesTogether: boolean;
}): JudgedEntities {
  const { scope, candidatePlan, subjectId } = input;
  const writer = searchWriter(scope, plan, subjectId);
  const { tables, candidates, inner } = entityCandidates({ ...input, writer });
  const known = usersetsInBack({ ...input, writer }, plan);
  const closure =
    known === undefined ? closureTables(scope, plan, { id: subjectId }) : readClosure(known);
  const id = sql`found.id`;
  const isInDoubt = asksAgain || hasDoubt(candidatePlan);
  const sets = judgesTogether
    ? setsOf(guardsOf(plan), (state) =>
        entitySet(scope, plan, state, { subjectId, isCutOffPossible: known === undefined }),
      )
    : noSets;
  const verdict = candidateVerdict(writer, isInDoubt, id, {
    holds: (state, probed) => sets.get(state.id)?.holds(probed()) ?? probed(),
    judge: (state, searched) => {
      const isShort = known !== undefined && asksForUsersets(writer, state);
      const probed = isShort ? closedVerdict(writer, state, id) : searched();
      return sets.get(state.id)?.verdict(probed) ?? probed;
    },
  });
  return {
    tables: [...(plan.usersets.length === 0 ? [] : closure), ...tables, ...setTables(sets)],
    candidates,
    inner,
    verdict,
  };
}

/**
 * A search of subjects from the entity, whose candidates the plan judges, as those of entities. Together: what
 * the guards accept is read from the entity. Where that is too much, the verdicts are not decided.
 */
export function judgedSubjects({
  plan,
  judgesTogether,
  ...input
}: Omit<SubjectCandidates, "writer"> & {
  readonly plan: SearchPlan;
  readonly judgesTogether: boolean;
}): JudgedCandidates {
  const { scope, candidatePlan, entityId } = input;
  const subject = sql`found.id`;
  const writer = searchWriter(scope, plan, subject);
  const { tables, candidates } = subjectCandidates({ ...input, writer });
  const exact = guardsOf(plan).filter(({ id }) => writer.exact.has(id));
  const sets = judgesTogether
    ? setsOf(exact, (state) => subjectSet(scope, plan, state, entityId))
    : noSets;
  const followed = judgesTogether ? followedOf(writer, entityId) : noFollowed;
  const isInDoubt = hasDoubt(candidatePlan);
  let isSearched = isInDoubt;
  const verdict = candidateVerdict(writer, isInDoubt, entityId, {
    holds: (state, probed) => sets.get(state.id)?.holds(probed()) ?? probed(),
    judge: (state, searched) => {
      const known = followed.get(state.id);
      if (known !== undefined) return known.verdict;
      isSearched = true;
      if (!asksForUsersets(writer, state)) return searched();
      const holds = stateHolds(writer, state, rootPlace(entityId));
      return unclosedVerdict(writer, state, entityId, { holds, searched });
    },
  });
  const whole = [...followed.values()].map(({ isWhole }) => isWhole);
  return {
    tables: [
      ...tables,
      ...setTables(sets),
      ...[...followed.values()].flatMap((guard) => guard.tables),
    ],
    candidates,
    // Beside each candidate, the closure costs its start even if it is not read.
    verdict: isSearched ? sql`(${withClosure(scope, plan, subject)} select ${verdict})` : verdict,
    isDecided: whole.length === 0 ? undefined : join(whole, " and "),
  };
}

type GuardSets = ReadonlyMap<number, GuardSet>;

const noSets: GuardSets = new Map();

/** By their state. */
function setsOf(guards: readonly State[], setOf: (state: State) => GuardSet): GuardSets {
  return new Map(guards.filter(canBeSet).map((state) => [state.id, setOf(state)]));
}

/** The guards of the question. */
function guardsOf({ states }: SearchPlan): State[] {
  return stateOf(states, 0).arrival.map(({ state }) => stateOf(states, state));
}

const noFollowed: ReadonlyMap<number, FollowedGuard> = new Map();

function followedOf(writer: Writer, entityId: Fragment): ReadonlyMap<number, FollowedGuard> {
  const guards = guardsOf(writer.plan).filter((state) => canBeFollowed(writer, state));
  return new Map(guards.map((state) => [state.id, followedGuard(writer, state, entityId)]));
}

function setTables(sets: GuardSets): Fragment[] {
  return [...sets.values()].flatMap(({ tables }) => tables);
}

function stateOf(states: readonly State[], id: number): State {
  return must(states[id], "a plan's states refer to each other");
}

function rootPlace(id: Fragment): ReachedEntity {
  return { id, level: levelZero };
}

/** How the guards of the question are decided at a candidate, for less than a check takes. */
interface GuardJudge {
  /** Of a guard that is never unknown, whether it accepts. */
  readonly holds: (state: State, probed: () => Fragment) => Fragment;
  /** The verdict of another one. */
  readonly judge: (state: State, searched: () => Fragment) => Fragment;
}

/**
 * The arrival guards of the question alone decide a definite candidate. On the path to any other
 * candidate there was a guard or a test, so the plan decides it, as in a check.
 */
function candidateVerdict(
  writer: Writer,
  isInDoubt: boolean,
  entityId: Fragment,
  judge: GuardJudge,
): Fragment {
  const { states } = writer.plan;
  const shortened: Writer = {
    ...writer,
    holds: (number, place) =>
      judge.holds(stateOf(states, number), () => writer.holds(number, place)),
    judge: (number, place) =>
      judge.judge(stateOf(states, number), () => writer.judge(number, place)),
  };
  const passed = passage(shortened, stateOf(states, 0).arrival, rootPlace(entityId));
  const definite =
    passed.kind === "open"
      ? sql`2`
      : passed.kind === "exact"
        ? sql`case when ${passed.holds} then 2 else 0 end`
        : passed.value;
  if (isInDoubt) {
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
