import type { Schema } from "../../language/schema.ts";
import type { CandidatePlan } from "../../plan/passes/5-drop-guards.ts";
import { relationsWith } from "../../plan/relations-with.ts";
import { searchWriter } from "../search/search-writer.ts";
import { openSearch } from "../search/search.ts";
import { depth, hops } from "../search/writer.ts";
import { type Fragment, join, sql } from "../text/fragment.ts";
import type { EntityCandidates } from "./accepted-ids.ts";
import type { BackStep, SearchSteps } from "./back-steps.ts";
import { backTable } from "./back.ts";
import { whole } from "./candidate.ts";
import { judgedEntities } from "./judged.ts";
import { reachedAtOnce, reachedFrom } from "./reached.ts";
import { scopedTypes } from "./scoped-types.ts";
import type { SharedAnswers, SharedItems } from "./shared-items.ts";
import { stepsFromSubject } from "./steps-from-subject.ts";

interface FromSubject {
  readonly candidatePlan: CandidatePlan;
  readonly schema: Schema;
}

/**
 * The verdicts of many entities for a subject: what leads to the subject is searched once, without the
 * last step, and a tuple of an entity leads there or not.
 */
export function verdictsFromSubject(items: SharedItems, asked: FromSubject): SharedAnswers {
  const input = inputOf(items, asked);
  const { plain, loose } = stepsToInner(asked);
  const back = backOf(sql`back`, input, items, { plain, loose });
  const judged = judgedEntities({ ...input, plan: items.plan, back, judgesTogether: false });
  const writer = searchWriter(items.scope, items.plan, items.common);
  const { sure, doubtful } = reachedFrom({ ...input, writer }, [], sql`k.id`);
  return {
    tables: join(judged.tables, ", "),
    isWhole: sql`(select count(*) from back) <= ${items.rowsMax}`,
    answers: judgedAnswers(items, judged.verdict, { met: sql`select ${sure} as sure`, doubtful }),
  };
}

/**
 * The same where walks lead from what the subject has to very much: only what leads to the subject
 * without a walk is searched once, and each entity follows its walks until it comes there. No walk goes
 * on from a userset, so this finds all paths. Undefined if walks lead to nothing but the question.
 */
export function verdictsFromBothEnds(
  items: SharedItems,
  asked: FromSubject,
): SharedAnswers | undefined {
  const { plain, loose, last, isInner } = stepsToInner(asked);
  if (![...plain, ...loose].some(isWalk)) return undefined;
  const input = inputOf(items, asked);
  const near = plain.filter((step) => !isWalk(step));
  const ends = backOf(sql`ends`, input, items, { plain: near, loose: [] });
  const judged = judgedEntities({
    ...input,
    plan: items.plan,
    asksAgain: true,
    judgesTogether: false,
    back: sql`back(state, id, level, sure) as materialized (select e.* from ends e)`,
  });
  const writer = searchWriter(items.scope, items.plan, items.common);
  const direct = last.filter((step) => !isWalk(step));
  const { sure, doubtful } = isInner
    ? { sure: sql`false`, doubtful: sql`false` }
    : reachedAtOnce({ ...input, writer }, direct, sql`k.id`);
  const met = sql`
    select w.met = 2 as sure, w.met > 0 as is_met
    from (select case when ${sure} then 2 else ${walkedVerdict(items)} end as met offset 0) w
  `;
  const answers = judgedAnswers(items, judged.verdict, {
    met,
    doubtful: sql`(m.is_met or ${doubtful})`,
  });
  return {
    tables: ends,
    isWhole: sql`(select count(*) from ends) <= ${items.rowsMax}`,
    answers: sql`with recursive ${join(judged.tables, ", ")} ${answers}`,
  };
}

function inputOf(
  { scope, common }: SharedItems,
  { candidatePlan, schema }: FromSubject,
): EntityCandidates {
  return {
    scope,
    candidatePlan,
    subjectId: common,
    relationsWith: relationsWith(schema),
    reading: whole,
    openRules: new Set(),
    limits: scopedTypes([]),
    writer: undefined,
  };
}

/** The steps without those to the question, which its entities take themselves. */
function stepsToInner({ candidatePlan }: FromSubject): ReturnType<typeof stepsFromSubject> {
  const steps = stepsFromSubject(candidatePlan);
  return { ...steps, loose: steps.loose.filter((step) => !steps.last.includes(step)) };
}

function isWalk({ subjectRelation }: BackStep): boolean {
  return subjectRelation === undefined;
}

/** The search of `back` as a table of a name. One row more than it may have tells that there are more. */
function backOf(
  name: Fragment,
  input: EntityCandidates,
  { rowsMax }: SharedItems,
  steps: SearchSteps,
): Fragment {
  const { inner } = stepsFromSubject(input.candidatePlan);
  return sql`
    ${name}(state, id, level, sure) as materialized (
      select b.*
      from (
        with recursive ${backTable(input, inner, steps)} select back.* from back limit ${rowsMax} + 1
      ) b
    )
  `;
}

/**
 * How the walks of an entity end in `back`: 2 on a path that is short enough with any of its rows, 1 on
 * another one, which the plan has to decide.
 */
function walkedVerdict({ scope, plan, common }: SharedItems): Fragment {
  const states = plan.states.map((state) => ({
    ...state,
    hops: state.hops.filter(({ hop }) => hop.kind === "walk"),
  }));
  const writer = searchWriter(scope, { ...plan, states }, common);
  const { name, search, table } = openSearch(writer, sql`k.id`);
  const { row } = search;
  const mostHops = sql`(select coalesce(max(${hops(sql`b.level`)}), 1) - 1 from back b)`;
  return sql`
    coalesce(
      (
        with recursive ${table}
        select case when ${hops(sql`${row}.level`)} + ${mostHops} <= ${depth} then 2 else 1 end
        from ${name} ${row}
        where ((${row}.state, ${row}.id) in (select b.state, b.id from back b)) is true
        limit 1
      ),
      0
    )
  `;
}

/** `met`: a query of one row `m` with `sure`, for the item `k`. */
function judgedAnswers(
  { items }: SharedItems,
  verdict: Fragment,
  { met, doubtful }: { readonly met: Fragment; readonly doubtful: Fragment },
): Fragment {
  return sql`
    select found.item, v.v, 1::bigint as n
    from (
      select k.id, k.item, m.sure, case when m.sure then true else ${doubtful} end as is_found
      from (${items}) k
      cross join lateral (${met} offset 0) m
      offset 0
    ) found
    cross join lateral (
      select case when found.is_found then (${verdict}) else 0 end as v offset 0
    ) v
  `;
}
