import { levelZero } from "../search/writer.ts";
import type { ContextPath } from "../state/context.ts";
import { type RelationSet, relationSet } from "../state/relation-set.ts";
import { type StatementScope, tupleBranches } from "../state/source.ts";
import { type Fragment, join, param, sql } from "../text/fragment.ts";

/** How many candidates a lookup reads at a time. */
export const candidatesMax = param("candidates", "int");

/** Which ids are read, and how many: the whole of them, or a page. */
export interface IdReading {
  /** A condition on the ids in a column, and on the column before it. */
  readonly wanted: (column: IdColumn) => Fragment;
  /** Makes one query of branches that have a column `id`. */
  readonly gathered: (branches: readonly IdQuery[]) => Fragment;
  /** Makes a query of one branch that may have an id twice. */
  readonly gatheredTwice: (branch: IdQuery) => Fragment;
}

/** A query of ids, and the columns in whose order an index has them. */
export interface IdQuery {
  readonly query: Fragment;
  readonly order: Fragment;
}

export interface IdColumn {
  readonly id: Fragment;
  /** The column before it in the index with its order, and the value that this column must have. */
  readonly before?: { readonly column: Fragment; readonly value: Fragment };
}

export const whole: IdReading = {
  wanted: ({ before }) => (before === undefined ? sql`true` : valueOf(before)),
  gathered: unionOf,
  gatheredTwice: ({ query }) => query,
};

function valueOf({ column, value }: NonNullable<IdColumn["before"]>): Fragment {
  return sql`${column} = ${value}`;
}

function unionOf(branches: readonly IdQuery[]): Fragment {
  return join(
    branches.map(({ query }) => query),
    " union all ",
  );
}

const after = param("after", "text");

/**
 * The first ids after a given one ("" for the first page, since no id is empty), ascending. Every
 * branch stops by itself, so a page costs what it holds and not what follows it. The id is compared
 * together with the column before it: without statistics the planner might otherwise use an index
 * with another order. The column has no condition of its own: with one, the scan of the index would
 * begin at the first id of the value instead of at the given id.
 */
export const page: IdReading = {
  wanted: ({ id, before }) =>
    before === undefined
      ? sql`${id} > ${after}`
      : sql`
        (${before.column}, ${id}) > (${before.value}, ${after})
        and ${before.column} <= ${before.value}
      `,
  gathered: (branches) =>
    join(
      branches.map(({ query, order }) => sql`(${query} order by ${order} limit ${candidatesMax})`),
      " union all ",
    ),
  gatheredTwice: ({ query, order }) => sql`(${query} order by ${order} limit 2 * ${candidatesMax})`,
};

/** A reading with one more condition on the id. */
export function filtered(reading: IdReading, condition: (id: Fragment) => Fragment): IdReading {
  return {
    ...reading,
    wanted: (column) => sql`${reading.wanted(column)} and ${condition(column.id)}`,
  };
}

/** Tuples at one end of which ids are read: the other end, and what is known of this one. */
export type TupleSet =
  | {
      readonly end: "entity";
      readonly entityType: Fragment;
      readonly subjectType: Fragment;
      readonly subjectId: Fragment;
      readonly subjectRelation: Fragment;
    }
  | {
      readonly end: "subject";
      readonly entityType: Fragment;
      readonly entityId: Fragment;
      readonly subjectType: Fragment;
      readonly subjectRelation: Fragment;
    };

/** The ids of the tuples under any of the relations. */
export function tupleIds(
  scope: StatementScope,
  reading: IdReading,
  relations: readonly string[],
  tuples: TupleSet,
): Fragment {
  return tupleIdsAmong(scope, reading, relationSet(relations), tuples);
}

/** The same for relations that may depend on a row. */
export function tupleIdsAmong(
  scope: StatementScope,
  reading: IdReading,
  relations: RelationSet,
  tuples: TupleSet,
): Fragment {
  const under = (relation: Fragment): Fragment => tupleIdsUnder(scope, reading, relation, tuples);
  // The offset keeps the planner from reading all tuples first (see `relationProbe`).
  return relations.kind === "one"
    ? under(relations.name)
    : sql`
      select p.id
      from unnest(${relations.names}) o(name)
      cross join lateral (select q.id from (${under(sql`o.name collate "C"`)}) q offset 0) p
    `;
}

/** The ids of the tuples under one relation. */
export function tupleIdsUnder(
  scope: StatementScope,
  reading: IdReading,
  relation: Fragment,
  tuples: TupleSet,
): Fragment {
  const column = idColumn(tuples, relation);
  const all = sql`${otherEnd(tuples, relation)} and ${reading.wanted(column)}`;
  const path = contextPath(tuples, relation);
  const branches = tupleBranches(scope, sql`${column.id} as id`, all, path);
  return reading.gathered(inOrderOf(column, branches));
}

function otherEnd(tuples: TupleSet, relation: Fragment): Fragment {
  return tuples.end === "entity"
    ? sql`
      r.subject_id = ${tuples.subjectId}
      and r.subject_type = ${tuples.subjectType}
      and r.subject_relation = ${tuples.subjectRelation}
      and r.entity_type = ${tuples.entityType}
    `
    : sql`
      r.relation = ${relation}
      and r.entity_id = ${tuples.entityId}
      and r.entity_type = ${tuples.entityType}
      and r.subject_type = ${tuples.subjectType}
    `;
}

function contextPath(tuples: TupleSet, relation: Fragment): ContextPath {
  const { end, entityType, subjectType, subjectRelation } = tuples;
  return end === "entity"
    ? {
        end: "subject",
        type: subjectType,
        id: tuples.subjectId,
        relation: subjectRelation,
        entity: { type: entityType, relation },
      }
    : {
        end: "entity",
        type: entityType,
        id: tuples.entityId,
        relation,
        subject: { known: "kind", type: subjectType, relation: subjectRelation },
      };
}

function idColumn(tuples: TupleSet, relation: Fragment): IdColumn {
  return tuples.end === "entity"
    ? { id: sql`r.entity_id`, before: { column: sql`r.relation`, value: relation } }
    : {
        id: sql`r.subject_id`,
        before: { column: sql`r.subject_relation`, value: tuples.subjectRelation },
      };
}

/** The queries as branches of a reading, in the order of the column. */
export function inOrderOf(
  { id, before }: IdColumn,
  queries: readonly Fragment[],
): readonly IdQuery[] {
  const order = before === undefined ? id : sql`${before.column}, ${id}`;
  return queries.map((query) => ({ query, order }));
}

/** The candidates of all queries for entities as one query with the columns (id, sure, level[, state, via]). */
export function allCandidates(candidates: readonly Fragment[], tellsVia = false): Fragment {
  if (candidates.length === 0) {
    return sql`select null::text as id, false as sure, ${levelZero} as level where false`;
  }
  const via = tellsVia ? sql`, state, via` : sql``;
  return sql`select c.* from (${join(candidates, " union all ")}) c(id, sure, level${via})`;
}

/** The same for subjects, with the columns (id, sure). */
export function allSubjects(candidates: readonly Fragment[]): Fragment {
  return candidates.length === 0
    ? sql`select null::text as id, false as sure where false`
    : sql`select c.* from (${join(candidates, " union all ")}) c(id, sure)`;
}
