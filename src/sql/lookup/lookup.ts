import { must } from "../../base/assert.ts";
import type { Schema } from "../../language/schema.ts";
import type { CandidatePlan } from "../../plan/passes/5-drop-guards.ts";
import type { SearchPlan, State } from "../../plan/plan.ts";
import { relationsWith } from "../../plan/relations-with.ts";
import { gatherBody } from "../gather/gather-body.ts";
import type { Gather } from "../gather/gather.ts";
import { closureTables, readClosure } from "../search/closure.ts";
import { passage } from "../search/guard.ts";
import { searchWriter, withClosure } from "../search/search-writer.ts";
import { questionVerdict } from "../search/search.ts";
import { asksForUsersets, closedVerdict, unclosedVerdict } from "../search/userset-guard.ts";
import { depth, hops, levelZero, type Writer } from "../search/writer.ts";
import type { StatementScope, Shape } from "../state/source.ts";
import {
  isAskedTenant,
  scopeOf,
  stateColumnsOf,
  tenantRow,
  versionColumns,
  withContext,
} from "../state/tenant-row.ts";
import { type Fragment, join, param, render, type Statement, sql } from "../text/fragment.ts";
import { candidatesMax } from "./candidate.ts";
import { entityCandidates, usersetsInBack } from "./entity-candidates.ts";
import { scopedTypes } from "./scoped-types.ts";
import { subjectCandidates } from "./subject-candidates.ts";

/** What is looked for, and how its candidates are judged. */
export interface Lookup {
  readonly end: "entities" | "subjects";
  readonly candidatePlan: CandidatePlan;
  readonly schema: Schema;
  readonly judge:
    /** In the statement, by the plan itself. */
    | { readonly kind: "search"; readonly plan: SearchPlan }
    /** By the interpreter, over facts that the statement reads. */
    | { readonly kind: "gather"; readonly gather: Gather };
}

export interface LookupShape extends Shape {
  /** A schema version that the request pinned must exist (parameter `version`). */
  readonly pinnedVersion: boolean;
  /** Names of the rules that may hold for an entity without any attribute. */
  readonly openRules: ReadonlySet<string>;
  /** Entity types of which only the ids of the parameter `scope_<type>` are looked at. */
  readonly scopedTypes: readonly string[];
}

/**
 * The statement that reads one page of a lookup. One row:
 *
 * - `head_version`: the true head; in a shape with a pinned version, `has_version`
 * - `pinColumns`: in pinned shapes, whether the snapshot can't be read; in the others
 *   `snapshot` and `timeline`, from which the token of the state is made
 * - `candidates`, `last`: how many ids came into question, at most `candidates`, and the last of them
 * - `answers`: the first of them that are not denied, at most `answers`, ascending, as
 *   [id, verdict]; of a gather all of them, as [id], with `facts` (see `gatherBody`)
 *
 * No row at all: the tenant does not exist. Parameters: `tenant`, `depth`, `data`, `id` of the
 * subject or the entity that is asked about, `after`, `candidates`, `answers`; `snapshot`, `version`,
 * `scope_<type>` and the context by shape.
 */
export function lookupStatement(lookup: Lookup, shape: LookupShape): Statement {
  const scope = scopeOf(shape);
  const body = lookup.end === "entities" ? entities(lookup, shape, scope) : subjects(lookup, scope);
  return render(
    sql`
      ${withContext(body)}
      select ${versionColumns(shape)}, ${stateColumnsOf(shape)}, a.*
      from ${tenantRow(shape, body)}
      cross join lateral (${body}) a
      where ${isAskedTenant}
    `,
  );
}

const askedId = sql`${param("id", "text")} collate "C"`;
const answersMax = param("answers", "int");

function entities(
  { candidatePlan, judge, schema }: Lookup,
  shape: LookupShape,
  scope: StatementScope,
): Fragment {
  const limits = scopedTypes(shape.scopedTypes);
  const input = {
    scope,
    candidatePlan,
    subjectId: askedId,
    openRules: shape.openRules,
    limits,
    relationsWith: relationsWith(schema),
  };
  if (judge.kind === "gather") {
    const { tables, candidates } = entityCandidates({ ...input, writer: undefined });
    // The candidates are gathered together: most of what one leads to, the others lead to as well.
    const all = sql`unnest(array(select found.id from found))`;
    const facts = gatherBody(scope, judge.gather, all, askedId);
    return gatheredPage([...tables, foundTable(candidates)], facts);
  }
  const { plan } = judge;
  const writer = searchWriter(scope, plan, askedId);
  const { tables, candidates } = entityCandidates({ ...input, writer });
  const known = usersetsInBack({ ...input, writer }, plan);
  const closure =
    known === undefined ? closureTables(scope, plan, { id: askedId }) : readClosure(known);
  const id = sql`found.id`;
  const verdict = candidateVerdict(writer, candidatePlan, id, (state) =>
    known === undefined ? undefined : closedVerdict(writer, state, id),
  );
  return pageOf(
    [...(plan.usersets.length === 0 ? [] : closure), ...tables, foundTable(candidates)],
    judgedAnswers(sql`select ${verdict} as v offset 0`),
  );
}

function subjects({ candidatePlan, judge }: Lookup, scope: StatementScope): Fragment {
  const input = { scope, candidatePlan, entityId: askedId };
  if (judge.kind === "gather") {
    const { tables, candidates } = subjectCandidates({ ...input, writer: undefined });
    const facts = gatherBody(scope, judge.gather, askedId, sql`''`);
    return gatheredPage([...tables, foundTable(candidates)], facts);
  }
  const { plan } = judge;
  const subject = sql`found.id`;
  const writer = searchWriter(scope, plan, subject);
  const { tables, candidates } = subjectCandidates({ ...input, writer });
  const verdict = candidateVerdict(writer, candidatePlan, askedId, (state, searched) =>
    unclosedVerdict(writer, state, askedId, searched),
  );
  return pageOf(
    [...tables, foundTable(candidates)],
    judgedAnswers(sql`
      ${withClosure(scope, plan, subject)}
      select ${verdict} as v offset 0
    `),
  );
}

/** The first of the candidates, which have the columns (id, sure, level); `sure` is definite. */
function foundTable(candidates: readonly Fragment[]): Fragment {
  const all =
    candidates.length === 0
      ? sql`select null::text as id, false as sure, ${levelZero} as level where false`
      : sql`select c.* from (${join(candidates, " union all ")}) c(id, sure, level)`;
  return sql`
    found as materialized (
      select c.id, bool_or(c.sure and ${hops(sql`c.level`)} <= ${depth}) as sure
      from (${all}) c
      group by c.id
      order by c.id
      limit ${candidatesMax}
    )
  `;
}

/** Candidates are judged one by one, in their order, until there are enough. */
function judgedAnswers(verdict: Fragment): Fragment {
  return sql`
    select json_build_array(found.id, v.v) as answer
    from found
    cross join lateral (${verdict}) v
    where v.v > 0
    limit ${answersMax}
  `;
}

/** All candidates, and the facts from which the interpreter judges each of them. */
function gatheredPage(tables: readonly Fragment[], facts: Fragment): Fragment {
  const answers = sql`select json_build_array(found.id) as answer from found`;
  return pageOf(tables, answers, sql`, (select g.facts from (${facts}) g) as facts`);
}

function pageOf(tables: readonly Fragment[], answers: Fragment, more = sql``): Fragment {
  return sql`
    with recursive ${join(tables, ", ")}
    select f.candidates, f.last,
      coalesce((select json_agg(a.answer) from (${answers}) a), '[]'::json) as answers${more}
    from (select count(*)::int as candidates, max(found.id) as last from found) f
  `;
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
