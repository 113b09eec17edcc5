import type { Schema } from "../../language/schema.ts";
import type { CandidatePlan } from "../../plan/passes/5-drop-guards.ts";
import type { SearchPlan } from "../../plan/plan.ts";
import { relationsWith } from "../../plan/relations-with.ts";
import { gatherBody } from "../gather/gather-body.ts";
import type { Gather } from "../gather/gather.ts";
import { shownColumn, type StatementScope, type Shape } from "../state/source.ts";
import {
  isAskedTenant,
  scopeOf,
  stateColumnsOf,
  tenantRow,
  versionColumns,
  withContext,
} from "../state/tenant-row.ts";
import {
  type Fragment,
  join,
  literal,
  param,
  render,
  type Statement,
  sql,
} from "../text/fragment.ts";
import { allCandidates, allSubjects, candidatesMax, page } from "./candidate.ts";
import { entityCandidates, type FoundCandidates } from "./entity-candidates.ts";
import { spanTable } from "./guard-sets.ts";
import { needsNoCheck } from "./inner-guards.ts";
import { judgedEntities, judgedSubjects, notDenied } from "./judged.ts";
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
  /** What the guards accept is read once for all candidates, and that of guards on the way once for each entity there. */
  readonly judgesTogether: boolean;
  /** Adds the column `shown` (see `shownColumn`). */
  readonly tellsShown?: boolean | undefined;
}

/**
 * The statement that reads one page of a lookup. One row:
 *
 * - `head_version`: the true head; in a shape with a pinned version, `has_version`
 * - `pinColumns`: in pinned shapes, whether the snapshot can't be read; in the others
 *   `snapshot` and `timeline`, from which the token of the state is made
 * - `candidates`, `last`: how many ids came into question, at most `candidates`, and the last of them
 * - `answers`: the first of them that are not denied, at most `answers`, ascending, as a list with
 *   `idSeparator`, null if there are none; `unknown`: those that the statement could not decide, the same; of a
 *   gather `answers` are all of them, with `facts` (see `gatherBody`)
 * - `is_decided`, only if the candidates are judged together, and for some plans: if it is false, the answers
 *   are wrong, and the candidates must be judged one by one
 *
 * No row at all: the tenant does not exist. Parameters: `tenant`, `depth`, `data`, `id` of the
 * subject or the entity that is asked about, `after`, `candidates`, `answers`; `snapshot`, `version`,
 * `scope_<type>` and the context by shape.
 */
export function lookupStatement(lookup: Lookup, shape: LookupShape): Statement {
  const scope = scopeOf(shape);
  const body =
    lookup.end === "entities" ? entities(lookup, shape, scope) : subjects(lookup, shape, scope);
  const shown = shape.tellsShown === true ? sql`, ${shownColumn}` : sql``;
  return render(
    sql`
      ${withContext(body)}
      select ${versionColumns(shape)}, ${stateColumnsOf(shape)}${shown}, ${lookup.judge.kind === "gather" ? gatheredColumns : sql`a.*`}
      from ${tenantRow(shape, body)}
      cross join lateral (${body}) a
      ${lookup.judge.kind === "gather" ? sql`cross join lateral unnest(a.facts) with ordinality f(facts, nth)` : sql``}
      where ${isAskedTenant}
    `,
  );
}

/** There is a row for each piece of the facts. The answers come once. */
const gatheredColumns = sql`
  a.candidates, a.last, case when f.nth = 1 then a.answers end as answers,
  case when f.nth = 1 then a.unknown end as unknown, f.facts
`;

/** Stands between the ids of a list, none of which has it: a JSON array takes longer to write and to read. */
export const idSeparator = " ";

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
    reading: page,
  };
  if (judge.kind === "gather") {
    const { tables, ...found } = entityCandidates({ ...input, writer: undefined });
    // The candidates are gathered together: most of what one leads to, the others lead to as well.
    const all = sql`unnest(array(select found.id from found))`;
    const facts = gatherBody(scope, judge.gather, { id: all, subject: askedId });
    return gatheredPage([...tables, ...foundTables(found)], facts);
  }
  const judged = judgedEntities({
    ...input,
    plan: judge.plan,
    innerMax: shape.judgesTogether ? candidatesMax : undefined,
    judgesTogether: shape.judgesTogether,
  });
  return pageOf([...judged.tables, ...foundTables(judged)], judgedAnswers(judged.verdict));
}

function subjects(
  { candidatePlan, judge }: Lookup,
  { judgesTogether }: LookupShape,
  scope: StatementScope,
): Fragment {
  const input = { scope, candidatePlan, entityId: askedId, reading: page };
  if (judge.kind === "gather") {
    const { tables, candidates } = subjectCandidates({ ...input, writer: undefined });
    const facts = gatherBody(scope, judge.gather, { id: askedId, subject: sql`''` });
    return gatheredPage([...tables, foundSubjects(candidates)], facts);
  }
  const judged = judgedSubjects({ ...input, plan: judge.plan, judgesTogether });
  const { isDecided } = judged;
  const more = isDecided === undefined ? sql`` : sql`, ${isDecided} as is_decided`;
  const found = foundSubjects(judged.candidates);
  return pageOf([...judged.tables, found], judgedAnswers(judged.verdict), more);
}

/** The first of the candidates; `sure` is definite. */
function foundTables({
  candidates,
  inner,
}: Pick<FoundCandidates, "candidates" | "inner">): Fragment[] {
  const all = allCandidates(candidates, inner !== undefined);
  const from = inner === undefined ? sql`(${all})` : sql`candidates`;
  const found = sql`
    found as materialized (
      select c.id, bool_or(${needsNoCheck(inner)}) as sure
      from ${from} c
      group by c.id
      order by c.id
      limit ${candidatesMax}
    )
  `;
  if (inner === undefined) return [found];
  return [sql`candidates as materialized (${all})`, ...inner.tables, found];
}

/** The same for candidates with the columns (id, sure). */
function foundSubjects(candidates: readonly Fragment[]): Fragment {
  return sql`
    found as materialized (
      select distinct on (c.id) c.id, c.sure
      from (${allSubjects(candidates)}) c
      order by c.id, c.sure desc
      limit ${candidatesMax}
    )
  `;
}

/** Candidates are judged one by one, in their order, until there are enough. */
function judgedAnswers(verdict: Fragment): Fragment {
  return sql`${notDenied(verdict)} limit ${answersMax}`;
}

/** All candidates, and the facts from which the interpreter judges each of them. */
function gatheredPage(tables: readonly Fragment[], facts: Fragment): Fragment {
  const answers = sql`select found.id, 1 as v from found`;
  return pageOf(tables, answers, sql`, (select g.facts from (${facts}) g) as facts`);
}

const between = literal(idSeparator);

function pageOf(tables: readonly Fragment[], answers: Fragment, more = sql``): Fragment {
  return sql`
    with recursive ${join([...tables, spanTable], ", ")}
    select s.candidates, s.last, a.*${more}
    from span s
    cross join (
      select string_agg(a.id, ${between}) as answers,
        string_agg(a.id, ${between}) filter (where a.v = 1) as unknown
      from (${answers}) a
    ) a
  `;
}
