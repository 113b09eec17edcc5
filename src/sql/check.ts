import type { CandidateHop } from "../plan/passes/5-drop-guards.ts";
import type { SearchPlan } from "../plan/plan.ts";
import type { SubjectKind } from "../plan/question.ts";
import { gatherBody } from "./gather/gather-body.ts";
import type { Gather } from "./gather/gather.ts";
import { type SharedSearch, sharedVerdicts } from "./lookup/shared-search.ts";
import { isClosed, isCutOff } from "./search/closure.ts";
import { searchWriter, withClosure } from "./search/search-writer.ts";
import { questionVerdict } from "./search/search.ts";
import { relationProbe } from "./state/relation-set.ts";
import { type Shape, shownColumn, type StatementScope } from "./state/source.ts";
import {
  isAskedTenant,
  scopeOf,
  stateColumnsOf,
  tenantRow,
  versionColumns,
  withContext,
} from "./state/tenant-row.ts";
import {
  type Fragment,
  integer,
  join,
  literal,
  param,
  render,
  type Statement,
  sql,
} from "./text/fragment.ts";

/** What a statement answers for a group of items. */
export type Body = PlannedBody | DirectBody;

/** A question for which there is a plan. */
export type PlannedBody =
  | {
      readonly kind: "search";
      readonly plan: SearchPlan;
      /** In bulk, of items with few subjects or few entities: what they share. */
      readonly shared?: SharedSearch | undefined;
    }
  | {
      readonly kind: "gather";
      readonly gather: Gather;
      /**
       * If this search allows, no usersets are read but those that the subject is in. What is read then has
       * all that can be a part of a proof. Needs: a gather without a negation.
       */
      readonly proof?: SearchPlan | undefined;
    };

/** Questions of one kind that tuples of the entity alone decide. In bulk. */
export interface DirectBody {
  readonly kind: "direct";
  readonly entityType: string;
  readonly subject: SubjectKind;
}

export interface CheckShape extends Shape {
  /** True for several items, as arrays of ids; false for one item, as plain parameters. */
  readonly bulk: boolean;
  /** A schema version that the request pinned must exist (parameter `version`). */
  readonly pinnedVersion: boolean;
  /** The columns of the state, from which its token is made. */
  readonly namesState?: boolean | undefined;
  /** The column `shown`: what the statement shows for certain. */
  readonly tellsShown?: boolean | undefined;
}

/**
 * The statement that answers all items of a check, grouped by plan. One row for each item, and for a gather
 * one for each piece of its facts:
 *
 * - `head_version`: the true head; in a shape with a pinned version, `has_version`
 * - `pinColumns`: in pinned shapes, whether the snapshot can't be read; in the others, if they name
 *   the state, `snapshot` and `timeline`
 * - `shown`, if the shape asks for it
 * - `item`, `verdict`, `nodes`; or `facts` when the body is a gather, with the `verdict` of its search
 *
 * Without bodies, one row without what is of an item. No row at all: the tenant does not exist. Parameters:
 * `tenant`, `depth`, `data`, and of group g `id_g`, `subject_g` (arrays in bulk, with `item_g`; of a direct body
 * with `relation_g`, too); `snapshot`, `version` and the context by shape.
 */
export function checkStatement(bodies: readonly Body[], shape: CheckShape): Statement {
  const scope = scopeOf(shape);
  const groups = bodies.map((body, group) => groupItems(scope, body, group, shape.bulk));
  const body = join(groups, " union all ");
  const state = shape.pinned || shape.namesState === true;
  const stateColumns = state ? sql`, ${stateColumnsOf(shape)}` : sql``;
  const shown = shape.tellsShown === true ? sql`, ${shownColumn}` : sql``;
  const columns = sql`${versionColumns(shape)}${stateColumns}${shown}`;
  if (bodies.length === 0) {
    return render(sql`select ${columns} from ${tenantRow(shape, body)} where ${isAskedTenant}`);
  }
  const hasFacts = bodies.some(({ kind }) => kind === "gather");
  return render(
    sql`
      ${withContext(body)}
      select ${columns}, a.item, a.verdict, a.nodes,
        ${hasFacts ? sql`f.facts` : sql`null::text as facts`}
      from ${tenantRow(shape, body)}
      cross join lateral (${body}) a
      ${hasFacts ? sql`left join lateral unnest(a.facts) f(facts) on true` : sql``}
      where ${isAskedTenant}
    `,
  );
}

function groupItems(scope: StatementScope, body: Body, group: number, isBulk: boolean): Fragment {
  const key = (name: string): string => `${name}_${group}`;
  if (body.kind === "direct") return directItems(scope, body, key);
  if (!isBulk) {
    const id = sql`${param(key("id"), "text")} collate "C"`;
    const subject = sql`${param(key("subject"), "text")} collate "C"`;
    return sql`
      select ${param(key("item"), "int")} as item, ${bodyColumns}
      from (${bodyRow(scope, body, id, subject)}) c
    `;
  }
  const arrays = sql`
    ${param(key("id"), "text[]")}, ${param(key("subject"), "text[]")},
    ${param(key("item"), "int[]")}
  `;
  if (body.kind === "search" && body.shared !== undefined) {
    return sharedVerdicts(scope, body.shared, arrays);
  }
  const row = bodyRow(scope, body, sql`q.id`, sql`q.subject`);
  return sql`
    select q.item, ${bodyColumns}
    from (
      select u.id collate "C" as id, u.subject collate "C" as subject, u.item
      from unnest(${arrays}) as u(id, subject, item)
    ) q
    cross join lateral (${row}) c
  `;
}

/** One probe reads all items, since a branch for each of them would cost its start-up. */
function directItems(
  scope: StatementScope,
  { entityType, subject }: DirectBody,
  key: (name: string) => string,
): Fragment {
  const arrays = sql`
    ${param(key("id"), "text[]")}, ${param(key("subject"), "text[]")},
    ${param(key("relation"), "text[]")}, ${param(key("item"), "int[]")}
  `;
  const probe = relationProbe(
    scope,
    sql`1`,
    { kind: "one", name: sql`q.relation` },
    {
      type: literal(entityType),
      id: sql`q.id`,
      subject: {
        known: "all",
        type: literal(subject.subjectType),
        relation: literal(subject.subjectRelation),
        id: sql`q.subject`,
      },
    },
  );
  return sql`
    select q.item,
      case when exists (select 1 from (${probe}) d offset 0) then 2 else 0 end as verdict,
      1::bigint as nodes, null::text[] as facts
    from (
      select u.id collate "C" as id, u.subject collate "C" as subject,
        u.relation collate "C" as relation, u.item
      from unnest(${arrays}) as u(id, subject, relation, item)
    ) q
  `;
}

const bodyColumns = sql`c.v as verdict, c.n as nodes, c.facts`;

function bodyRow(
  scope: StatementScope,
  body: PlannedBody,
  id: Fragment,
  subject: Fragment,
): Fragment {
  switch (body.kind) {
    case "search":
      return searchRow(scope, body.plan, id, subject);
    case "gather":
      return body.proof === undefined
        ? sql`
          select null::int as v, null::bigint as n, g.facts
          from (${gatherBody(scope, body.gather, { id, subject })}) g
        `
        : proofRow(scope, body.gather, body.proof, { id, subject });
  }
}

function proofRow(
  scope: StatementScope,
  gather: Gather,
  plan: SearchPlan,
  asked: { readonly id: Fragment; readonly subject: Fragment },
): Fragment {
  const verdict = questionVerdict(searchWriter(scope, plan, asked.subject), asked.id);
  const ledBy = ({ subjectType, subjectRelation }: CandidateHop): readonly Fragment[] => {
    const userset = plan.usersets.findIndex(
      ({ entityType, relation }) => entityType === subjectType && relation === subjectRelation,
    );
    if (userset < 0) return [];
    return [sql`and (${isCutOff} or ${isClosed(plan, integer(userset), sql`r.subject_id`)})`];
  };
  // A tuple to the subject would allow a union, wherever it leads.
  const hasDirect = gather.hasIntersection ? undefined : sql`x.v <> 0`;
  return sql`
    ${withClosure(scope, plan, asked.subject)}
    select x.v, null::bigint as n,
      case
        when x.v = 2
          then (select g.facts from (${gatherBody(scope, gather, { ...asked, ledBy })}) g)
        else (select g.facts from (${gatherBody(scope, gather, { ...asked, hasDirect })}) g)
      end as facts
    from (${verdict}) x
  `;
}

function searchRow(
  scope: StatementScope,
  plan: SearchPlan,
  id: Fragment,
  subject: Fragment,
): Fragment {
  const verdict = questionVerdict(searchWriter(scope, plan, subject), id);
  return sql`
    ${withClosure(scope, plan, subject)}
    select x.v, x.n, null::text[] as facts from (${verdict}) x
  `;
}
