import { type ContextPath, isInContext } from "../state/context.ts";
import { loggedTenant, type Scope, snapshot, tupleBranches } from "../state/source.ts";
import { type Fragment, join, literal, param, sql, textArray } from "../text/fragment.ts";

/** How many candidates a lookup reads at a time. */
export const candidatesMax = param("candidates", "int");

/** Which ids are read, and how many: the whole of them, or a page. */
export interface Reading {
  /** A condition on the ids in a column, and on what stands before it. */
  readonly wanted: (column: IdColumn) => Fragment;
  /** Makes one query of branches that have a column `id`. */
  readonly gathered: (branches: readonly Branch[]) => Fragment;
}

/** A query of ids, and the columns in whose order an index has them. */
interface Branch {
  readonly query: Fragment;
  readonly order: Fragment;
}

export interface IdColumn {
  readonly id: Fragment;
  /** The column that stands before it in the index that has its order, and the value it must have. */
  readonly before?: { readonly column: Fragment; readonly value: Fragment };
}

export const whole: Reading = {
  wanted: ({ before }) => (before === undefined ? sql`true` : valueOf(before)),
  gathered: unionOf,
};

function valueOf({ column, value }: NonNullable<IdColumn["before"]>): Fragment {
  return sql`${column} = ${value}`;
}

function unionOf(branches: readonly Branch[]): Fragment {
  return join(
    branches.map(({ query }) => query),
    " union all ",
  );
}

const after = param("after", "text");

/**
 * The first ids behind a place ("" for the first page, since no id is empty), ascending. Every
 * branch stops by itself, so a page costs what it holds, however many more there are. The place is
 * compared together with the column before the id: an index with another order is of no use then,
 * and while there are no statistics the planner might else begin one at the place. That column is not
 * asked for its value besides: the index would be entered by it, at the first id instead of the place.
 */
export const page: Reading = {
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
};

/** A reading with one more condition on the id. */
export function filtered(reading: Reading, condition: (id: Fragment) => Fragment): Reading {
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
  scope: Scope,
  reading: Reading,
  relations: readonly string[],
  tuples: TupleSet,
): Fragment {
  const under = (relation: Fragment): Fragment => tupleIdsUnder(scope, reading, relation, tuples);
  const [first] = relations;
  // The offset keeps the planner from turning the two round (see `relationProbe`).
  return first !== undefined && relations.length === 1
    ? under(literal(first))
    : sql`
      select p.id
      from unnest(${textArray(relations)}) o(name)
      cross join lateral (select q.id from (${under(sql`o.name collate "C"`)}) q offset 0) p
    `;
}

/** The ids of the tuples under one relation. */
export function tupleIdsUnder(
  scope: Scope,
  reading: Reading,
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

function inOrderOf({ id, before }: IdColumn, queries: readonly Fragment[]): readonly Branch[] {
  const order = before === undefined ? id : sql`${before.column}, ${id}`;
  return queries.map((query) => ({ query, order }));
}

/**
 * The entities of a type with an attribute that is not plainly false, with the columns (id,
 * is_true): that it surely is true; else it is for the test to say.
 */
export function attributeIds(
  scope: Scope,
  reading: Reading,
  entityType: string,
  name: string,
): Fragment {
  const column = ownerColumn(literal(name));
  const where = sql`r.entity_type = ${literal(entityType)} and ${reading.wanted(column)}`;
  // What the request gives stands before what is stored.
  const isStored = scope.shape.contextAttributes
    ? sql` and not (${isInContext(literal(entityType), sql`r.entity_id`, literal(name))})`
    : sql``;
  const columns = sql`r.entity_id as id, r.value_type = 'boolean'${isStored} as is_true`;
  const branches = storedBranches(scope, attributesTable, {
    columns,
    where: sql`${where} and r.value <> 'false'::jsonb`,
  });
  if (scope.shape.contextAttributes) {
    branches.push(
      sql`select r.entity_id as id, false as is_true from context_attributes r where ${where}`,
    );
  }
  return reading.gathered(inOrderOf(column, branches));
}

/** The entities of a type that have any of some attributes, with repeats. */
export function attributeOwners(
  scope: Scope,
  reading: Reading,
  entityType: string,
  names: readonly string[],
): Fragment {
  const columns = sql`r.entity_id as id`;
  const column = ownerColumn(sql`o.name collate "C"`);
  const where = sql`r.entity_type = ${literal(entityType)} and ${reading.wanted(column)}`;
  const branches = storedBranches(scope, attributesTable, { columns, where });
  if (scope.shape.contextAttributes) {
    branches.push(sql`select ${columns} from context_attributes r where ${where}`);
  }
  return sql`
    select p.id
    from unnest(${textArray(names)}) o(name)
    cross join lateral (
      select q.id from (${reading.gathered(inOrderOf(column, branches))}) q offset 0
    ) p
  `;
}

function ownerColumn(name: Fragment): IdColumn {
  return { id: sql`r.entity_id`, before: { column: sql`r.attribute`, value: name } };
}

/**
 * All ids of a type that are known, with repeats: those that stand in a tuple at either end or have
 * an attribute, and `named`, which the question names. They are read off the indexes by id, past
 * those of other types and tenants: hardly any question needs them, and every write would pay for
 * indexes of their own.
 */
export function knownIds(
  scope: Scope,
  reading: Reading,
  type: string,
  named: Fragment | undefined,
): Fragment {
  const at = (end: "entity" | "subject") => {
    const id = end === "entity" ? sql`r.entity_id` : sql`r.subject_id`;
    const column = end === "entity" ? sql`r.entity_type` : sql`r.subject_type`;
    const where = sql`${column} = ${literal(type)} and ${reading.wanted({ id })}`;
    return { known: { id }, columns: sql`distinct ${id} as id`, where };
  };
  const entity = at("entity");
  const subject = at("subject");
  const branches = [
    ...inOrderOf(entity.known, storedBranches(scope, entitiesTable, entity)),
    ...inOrderOf(subject.known, storedBranches(scope, subjectsTable, subject)),
    ...inOrderOf(entity.known, storedBranches(scope, ownersTable, entity)),
  ];
  const { contextTuples, contextAttributes } = scope.shape;
  if (contextTuples) {
    for (const { known, columns, where } of [entity, subject]) {
      const query = sql`select ${columns} from context_tuples r where ${where}`;
      branches.push(...inOrderOf(known, [query]));
    }
  }
  if (contextAttributes) {
    const query = sql`select ${entity.columns} from context_attributes r where ${entity.where}`;
    branches.push(...inOrderOf(entity.known, [query]));
  }
  if (named !== undefined) {
    const known = { id: sql`n.id` };
    const query = sql`select n.id from (select ${named} as id) n where ${reading.wanted(known)}`;
    branches.push(...inOrderOf(known, [query]));
  }
  return reading.gathered(branches);
}

/** A table, and the tenant of its rows and of those in the log as the index that is meant has it. */
interface Source {
  readonly live: Fragment;
  readonly tenant: Fragment;
  readonly loggedTenant: Fragment;
  /** Which rows of the log were of it. */
  readonly logged: Fragment;
}

const entitiesTable: Source = {
  live: sql`relationships`,
  tenant: sql`r.tenant`,
  loggedTenant,
  logged: sql`r.relation is not null`,
};
const subjectsTable: Source = { ...entitiesTable, logged: sql`r.subject_id is not null` };
const ownersTable: Source = {
  ...entitiesTable,
  live: sql`attributes`,
  logged: sql`r.attribute is not null`,
};
const attributesTable: Source = {
  ...ownersTable,
  tenant: sql`(r.tenant * 1)`,
  loggedTenant: sql`(r.tenant * 1)`,
};

/** What stands at the statement's state. */
function storedBranches(
  scope: Scope,
  source: Source,
  { columns, where }: { readonly columns: Fragment; readonly where: Fragment },
): Fragment[] {
  const { shape, tenant, changed } = scope;
  const live = sql`
    select ${columns} from ${source.live} r where ${source.tenant} = ${tenant} and ${where}
  `;
  if (!shape.pinned) return [live];
  return [
    sql`${live} and pg_visible_in_snapshot(r.created_xid, ${snapshot})`,
    sql`
      select ${columns}
      from changes r
      where ${changed}
      and ${source.loggedTenant} = ${tenant}
      and ${where}
      and r.operation = 'delete'
      and ${source.logged}
      and pg_visible_in_snapshot(r.created_xid, ${snapshot})
      and not pg_visible_in_snapshot(r.xid, ${snapshot})
    `,
  ];
}
