import { unreachable } from "../../base/assert.ts";
import type { CandidateState, CandidateTest } from "../../plan/passes/5-drop-guards.ts";
import type { SearchPlan } from "../../plan/plan.ts";
import { ranksOf } from "../search/state-names.ts";
import { levelZero } from "../search/writer.ts";
import { manyRelations } from "../state/relation-set.ts";
import { type Fragment, integer, join, literal, sql, truth } from "../text/fragment.ts";
import { acceptedIds, type EntityCandidates, type NotDirect, verdictAt } from "./accepted-ids.ts";
import { type BackStep, ifOpen } from "./back-steps.ts";
import { backHops, backTable } from "./back.ts";
import { filtered, type IdReading, tupleIds, tupleIdsUnder } from "./candidate.ts";
import { type JudgedInner, judgedInner } from "./inner-guards.ts";
import { nameByStep, definiteByStep } from "./step-table.ts";
import { stepsFromSubject } from "./steps-from-subject.ts";

/** What the candidates of a lookup of entities are read with. */
export interface FoundCandidates {
  /** CTEs, for the `with` of the query. */
  readonly tables: readonly Fragment[];
  /** Queries with the columns (id, sure, level); with (id, sure, level, state, via) for `inner`. */
  readonly candidates: readonly Fragment[];
  /** Undefined: no guard on the way is judged. */
  readonly inner: JudgedInner | undefined;
}

/**
 * The candidates of a lookup of entities, as CTEs: `back` goes from the subject against the hops of
 * the candidate plan. The last step, to the state of the question, reads a page of its own from each
 * row. If hops lead on from that state, all candidates are in `back` instead. The candidates have the
 * columns (id, sure, level). `sure` is true for a definite candidate: the plan accepts it if the
 * arrival guards of the question hold.
 */
export function entityCandidates(input: EntityCandidates): FoundCandidates {
  const { limits, writer, innerMax } = input;
  const steps = stepsFromSubject(input.candidatePlan);
  const { root, isInner, last, loose } = steps;
  const inner =
    innerMax === undefined || writer === undefined
      ? undefined
      : judgedInner({ ...input, writer, innerMax }, steps);
  const reads: CandidateReading = { input, root, tellsVia: inner !== undefined };
  const { wide, narrow } = byWidth(last);
  const pages = [
    ...ranksOf(narrow, ({ at }) => at).map((rank) => rankCandidates(reads, rank)),
    ...wide.map((alike) => wideCandidates(reads, alike)),
  ];
  const accepted = isInner ? [] : root.tests.flatMap((test) => testCandidates(reads, test));
  const read = isInner || last.some((step) => loose.includes(step)) ? [readCandidates(reads)] : [];
  return {
    tables: [...limits.tables, input.back ?? searchedBack(input)],
    candidates: [...accepted, ...pages, ...read],
    inner,
  };
}

/** What the candidates are read for. */
interface CandidateReading {
  readonly input: EntityCandidates;
  /** The state of the question. */
  readonly root: CandidateState;
  /** The candidates have the columns that `judgedInner` reads. */
  readonly tellsVia: boolean;
}

/** The columns (state, via) of a candidate that comes from a row of `back`, if a condition holds. */
function viaBack({ tellsVia }: CandidateReading, isOpen: Fragment): Fragment {
  return tellsVia ? sql`, case when ${isOpen} then back.state end, back.id` : sql``;
}

/** The CTE `back` by a search of its own. */
export function searchedBack(input: EntityCandidates): Fragment {
  const { inner, plain, loose } = stepsFromSubject(input.candidatePlan);
  return backTable(input, inner, { plain, loose });
}

/**
 * The usersets that the subject is in, as queries of the rows of `back`. Undefined when `back` does
 * not have every userset that the plan asks for, or not all ids of one.
 */
export function usersetsInBack(
  { candidatePlan, limits }: EntityCandidates,
  plan: SearchPlan,
): readonly Fragment[] | undefined {
  const states = new Map<number, number>();
  const asked = new Set<number>();
  for (const { id, hops } of plan.states) {
    for (const { hop, target } of hops) {
      if (hop.kind !== "userset") continue;
      asked.add(hop.userset);
      if (candidatePlan.states.has(id)) states.set(hop.userset, target);
    }
  }
  const isWhole = plan.usersets.every(({ entityType }) => !limits.types.includes(entityType));
  if (!isWhole || states.size < asked.size) return undefined;
  return [...states].map(
    ([userset, state]) =>
      sql`
        select ${integer(userset)}, back.id, ${backHops}
        from back
        where back.state = ${integer(state)}
      `,
  );
}

/**
 * The rows of `back` at the state of the question. An id comes twice when one path to it is definite
 * and another one is not.
 */
function readCandidates(reads: CandidateReading): Fragment {
  const { reading } = reads.input;
  const id = sql`back.id`;
  const query = sql`
    select back.id, back.sure, ${backHops}${viaBack(reads, sql`true`)}
    from back
    where back.state = 0
    and ${reading.wanted({ id })}
  `;
  return reading.gatheredTwice({ query, order: id });
}

/** A page from each row of `back` at which a step of the rank begins. */
function rankCandidates(reads: CandidateReading, rank: readonly BackStep[]): Fragment {
  const { input, root } = reads;
  const state = sql`back.state`;
  const name = (of: (step: BackStep) => string): Fragment => nameByStep(rank, state, of);
  const reading = input.limits.limited(input.reading, root.entityType);
  const relation = name((step) => step.relation);
  const ids = tupleIdsUnder(input.scope, reading, relation, {
    end: "entity",
    entityType: literal(root.entityType),
    subjectType: name((step) => step.subjectType),
    subjectId: sql`back.id`,
    subjectRelation: name((step) => step.subjectRelation ?? ""),
  });
  const states = join(
    rank.map(({ at }) => integer(at)),
    ", ",
  );
  const isOpen = definiteByStep(rank.map(ifOpen), state);
  // Levels of `back` are one more than the hops, so this hop is counted already.
  return sql`
    select p.id, back.sure and ${definiteByStep(rank, state)} as sure, back.level${viaBack(reads, isOpen)}
    from back
    cross join lateral (${ids}) p
    where ${state} in (${states})
  `;
}

/** Separates the steps from one state by subjects of one relation, if they are many. */
function byWidth(steps: readonly BackStep[]): {
  readonly wide: readonly (readonly [BackStep, ...BackStep[]])[];
  readonly narrow: readonly BackStep[];
} {
  const wide: [BackStep, ...BackStep[]][] = [];
  const narrow: BackStep[] = [];
  const alike = Map.groupBy(steps, (step) => JSON.stringify([step.at, step.subjectRelation]));
  for (const [first, ...others] of alike.values()) {
    if (first !== undefined && others.length >= manyRelations) wide.push([first, ...others]);
    else if (first !== undefined) narrow.push(first, ...others);
  }
  return { wide, narrow };
}

/** A page from each row of `back` at which the steps begin. One branch reads all their relations. */
function wideCandidates(
  reads: CandidateReading,
  [first, ...others]: readonly [BackStep, ...BackStep[]],
): Fragment {
  const { input, root } = reads;
  const steps = [first, ...others];
  const reading = input.limits.limited(input.reading, root.entityType);
  const ids = tupleIds(
    input.scope,
    reading,
    steps.map(({ relation }) => relation),
    {
      end: "entity",
      entityType: literal(root.entityType),
      subjectType: literal(first.subjectType),
      subjectId: sql`back.id`,
      subjectRelation: literal(first.subjectRelation ?? ""),
    },
  );
  const definite = steps.every(({ isDefinite }) => isDefinite) ? sql`back.sure` : sql`false`;
  const isOpen = truth(steps.every((step) => step.isOpen));
  return sql`
    select p.id, ${definite} as sure, back.level${viaBack(reads, isOpen)}
    from back
    cross join lateral (${ids}) p
    where back.state = ${integer(first.at)}
  `;
}

function testCandidates(
  { input, root, tellsVia }: CandidateReading,
  { test, isDefinite }: CandidateTest,
): Fragment[] {
  // A direct test is a step from the subject.
  if (test.kind === "direct") return [];
  const reading = input.limits.limited(input.reading, root.entityType);
  const ids = acceptedIds(input, judged(input, reading, root, test), root, test);
  const sure = isDefinite ? definiteOf(test) : sql`false`;
  const via = tellsVia ? sql`, null::integer, null::text collate "C"` : sql``;
  return [sql`select c.id collate "C", ${sure}, ${levelZero}${via} from (${ids}) c`];
}

/**
 * Keeps only what the test accepts. The check of a candidate knows no scope: without this, it could
 * accept a candidate by a path that leaves the scope.
 */
function judged(
  { writer, limits }: EntityCandidates,
  reading: IdReading,
  root: CandidateState,
  test: NotDirect,
): IdReading {
  if (writer === undefined || limits.types.length === 0 || test.kind === "self") return reading;
  // The id gets a name of its own, since a test reads attributes under the name of the id's table.
  const verdict = verdictAt(writer, root, test, sql`k.id`);
  return filtered(
    reading,
    (id) => sql`(select ${verdict} > 0 from (select ${id} as id offset 0) k)`,
  );
}

function definiteOf(test: NotDirect): Fragment {
  switch (test.kind) {
    case "self":
      return sql`true`;
    case "attribute":
      return sql`c.is_true`;
    case "rule":
      return sql`false`;
    default:
      return unreachable(test);
  }
}
