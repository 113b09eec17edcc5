import { type Fragment, join, literal, param, sql, textArray } from "./fragment.ts";
import { type Scope, snapshot, tupleBranches } from "./source.ts";

/** How many candidates a lookup reads at a time. */
export const candidatesMax = param("candidates", "int");

/** Which ids are read, and how many: the whole of them, or a page. */
export interface Reading {
  /** A condition on an id. */
  readonly wanted: (id: Fragment) => Fragment;
  /** Makes one query of branches that have a column `id`. */
  readonly gathered: (branches: readonly Fragment[]) => Fragment;
}

export const whole: Reading = {
  wanted: () => sql`true`,
  gathered: (branches) => join(branches, " union all "),
};

/**
 * The first ids behind a place ("" for the first page, since no id is empty), ascending. Every
 * branch stops by itself, so a page costs what it holds, however many more there are.
 */
export const page: Reading = {
  wanted: (id) => sql`${id} > ${param("after", "text")}`,
  gathered: (branches) =>
    join(
      branches.map((branch) => sql`(${branch} order by id limit ${candidatesMax})`),
      " union all ",
    ),
};

/** The same for ids that are among those of a table with a column `id`. */
export function among(reading: Reading, table: Fragment): Reading {
  return {
    ...reading,
    wanted: (id) => sql`${reading.wanted(id)} and (${id} in (select s.id from ${table} s)) is true`,
  };
}

/** Tuples at one end of which ids are read; `where` names the columns of an index before the id. */
export interface TupleSet {
  readonly end: "entity" | "subject";
  readonly relations: readonly string[];
  readonly where: Fragment;
}

export function tupleIds(scope: Scope, reading: Reading, tuples: TupleSet): Fragment {
  const { end, relations, where } = tuples;
  const id = end === "entity" ? sql`r.entity_id` : sql`r.subject_id`;
  const under = (relation: Fragment): Fragment => {
    const all = sql`r.relation = ${relation} and ${where} and ${reading.wanted(id)}`;
    return reading.gathered(tupleBranches(scope, sql`${id} as id`, all));
  };
  const [first] = relations;
  // The offset keeps the planner from turning the two round (see `relationProbe`).
  return first !== undefined && relations.length === 1
    ? under(literal(first))
    : sql`select p.id from unnest(${textArray(relations)}) o(name) cross join lateral (select q.id from (${under(sql`o.name collate "C"`)}) q offset 0) p`;
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
  const isOf = sql`r.entity_type = ${literal(entityType)} and r.attribute = ${literal(name)}`;
  const where = sql`${isOf} and ${reading.wanted(sql`r.entity_id`)}`;
  // What the request gives stands before what is stored.
  const isStored = scope.shape.contextAttributes
    ? sql` and not exists (select 1 from context_attributes c where c.entity_id = r.entity_id and c.entity_type = ${literal(entityType)} and c.attribute = ${literal(name)})`
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
  return reading.gathered(branches);
}

/** The entities of a type that have any of some attributes, with repeats. */
export function attributeOwners(
  scope: Scope,
  reading: Reading,
  entityType: string,
  names: readonly string[],
): Fragment {
  const columns = sql`r.entity_id as id`;
  const where = sql`r.entity_type = ${literal(entityType)} and r.attribute = o.name collate "C" and ${reading.wanted(sql`r.entity_id`)}`;
  const branches = storedBranches(scope, attributesTable, { columns, where });
  if (scope.shape.contextAttributes) {
    branches.push(sql`select ${columns} from context_attributes r where ${where}`);
  }
  return sql`select p.id from unnest(${textArray(names)}) o(name) cross join lateral (select q.id from (${reading.gathered(branches)}) q offset 0) p`;
}

/**
 * All ids of a type that are known, with repeats: those that stand in a tuple at either end or have
 * an attribute, and `named`, which the question names.
 */
export function knownIds(
  scope: Scope,
  reading: Reading,
  type: string,
  named: Fragment | undefined,
): Fragment {
  const entity = {
    columns: sql`distinct r.entity_id as id`,
    where: sql`r.entity_type = ${literal(type)} and ${reading.wanted(sql`r.entity_id`)}`,
  };
  const subject = {
    columns: sql`distinct r.subject_id as id`,
    where: sql`r.subject_type = ${literal(type)} and ${reading.wanted(sql`r.subject_id`)}`,
  };
  const branches = [
    ...storedBranches(scope, entitiesTable, entity),
    ...storedBranches(scope, subjectsTable, subject),
    ...storedBranches(scope, attributesTable, entity),
  ];
  const { contextTuples, contextAttributes } = scope.shape;
  if (contextTuples) {
    for (const { columns, where } of [entity, subject]) {
      branches.push(sql`select ${columns} from context_tuples r where ${where}`);
    }
  }
  if (contextAttributes) {
    branches.push(sql`select ${entity.columns} from context_attributes r where ${entity.where}`);
  }
  if (named !== undefined) {
    branches.push(
      sql`select n.id from (select ${named} as id) n where ${reading.wanted(sql`n.id`)}`,
    );
  }
  return reading.gathered(branches);
}

/** A table with an index by type, and what says which rows of the log were of it. */
interface TypedTable {
  readonly live: Fragment;
  readonly logged: Fragment;
}

const entitiesTable: TypedTable = {
  live: sql`relationships`,
  logged: sql`r.relation is not null`,
};
const subjectsTable: TypedTable = {
  live: sql`relationships`,
  logged: sql`r.subject_id is not null`,
};
const attributesTable: TypedTable = { live: sql`attributes`, logged: sql`r.attribute is not null` };

/** What stands at the statement's state, by the indexes that begin with `tenant * 1`. */
function storedBranches(
  scope: Scope,
  { live, logged }: TypedTable,
  { columns, where }: { readonly columns: Fragment; readonly where: Fragment },
): Fragment[] {
  const { shape, tenant, changed } = scope;
  const all = sql`(r.tenant * 1) = ${tenant} and ${where}`;
  if (!shape.pinned) return [sql`select ${columns} from ${live} r where ${all}`];
  return [
    sql`select ${columns} from ${live} r where ${all} and pg_visible_in_snapshot(r.created_xid, ${snapshot})`,
    sql`select ${columns} from changes r where ${changed} and ${all} and r.operation = 'delete' and ${logged} and pg_visible_in_snapshot(r.created_xid, ${snapshot}) and not pg_visible_in_snapshot(r.xid, ${snapshot})`,
  ];
}
