import { type Fragment, join, literal, param, sql, textArray } from "./fragment.ts";
import { type Scope, snapshot, tupleBranches } from "./source.ts";

/** How many candidates a lookup reads at a time. */
export const candidatesMax = param("candidates", "int");

/** Which ids are read, and how many: the whole of them, or a page. */
export interface Reading {
  /** A condition on the ids in a column. */
  readonly wanted: (column: IdColumn) => Fragment;
  /** Makes one query of branches that have a column `id`. */
  readonly gathered: (branches: readonly Fragment[]) => Fragment;
}

export interface IdColumn {
  readonly id: Fragment;
  /** The column that stands before it in the index that has its order; all rows have that value. */
  readonly before?: { readonly column: Fragment; readonly value: Fragment };
}

export const whole: Reading = {
  wanted: () => sql`true`,
  gathered: (branches) => join(branches, " union all "),
};

const after = param("after", "text");

/**
 * The first ids behind a place ("" for the first page, since no id is empty), ascending. Every
 * branch stops by itself, so a page costs what it holds, however many more there are. The place is
 * compared together with the column before the id: an index with another order is of no use then,
 * and while there are no statistics the planner might else begin one at the place.
 */
export const page: Reading = {
  wanted: ({ id, before }) =>
    before === undefined
      ? sql`${id} > ${after}`
      : sql`(${before.column}, ${id}) > (${before.value}, ${after})`,
  gathered: (branches) =>
    join(
      branches.map((branch) => sql`(${branch} order by id limit ${candidatesMax})`),
      " union all ",
    ),
};

/** The same where no index has that order: all are read, and none is to be entered at the place. */
export const unorderedPage: Reading = {
  wanted: ({ id }) => sql`coalesce(${id}, '') > ${after}`,
  // The offset keeps the planner from a join that begins with all tuples of the tenant.
  gathered: (branches) => sql`select u.id from (${join(branches, " union all ")}) u offset 0`,
};

/** A reading with one more condition on the id. */
export function filtered(reading: Reading, condition: (id: Fragment) => Fragment): Reading {
  return {
    ...reading,
    wanted: (column) => sql`${reading.wanted(column)} and ${condition(column.id)}`,
  };
}

/** Tuples at one end of which ids are read; `where` names the columns of an index before the id. */
export type TupleSet = {
  readonly relations: readonly string[];
  readonly where: Fragment;
} & ({ readonly end: "entity" } | { readonly end: "subject"; readonly subjectRelation: Fragment });

export function tupleIds(scope: Scope, reading: Reading, tuples: TupleSet): Fragment {
  const { relations, where } = tuples;
  const under = (relation: Fragment): Fragment => {
    const column = idColumn(tuples, relation);
    const all = sql`r.relation = ${relation} and ${where} and ${reading.wanted(column)}`;
    return reading.gathered(tupleBranches(scope, sql`${column.id} as id`, all));
  };
  const [first] = relations;
  // The offset keeps the planner from turning the two round (see `relationProbe`).
  return first !== undefined && relations.length === 1
    ? under(literal(first))
    : sql`select p.id from unnest(${textArray(relations)}) o(name) cross join lateral (select q.id from (${under(sql`o.name collate "C"`)}) q offset 0) p`;
}

function idColumn(tuples: TupleSet, relation: Fragment): IdColumn {
  return tuples.end === "entity"
    ? { id: sql`r.entity_id`, before: { column: sql`r.relation`, value: relation } }
    : {
        id: sql`r.subject_id`,
        before: { column: sql`r.subject_relation`, value: tuples.subjectRelation },
      };
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
  const where = ownerCondition(reading, entityType, literal(name));
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
  const where = ownerCondition(reading, entityType, sql`o.name collate "C"`);
  const branches = storedBranches(scope, attributesTable, { columns, where });
  if (scope.shape.contextAttributes) {
    branches.push(sql`select ${columns} from context_attributes r where ${where}`);
  }
  return sql`select p.id from unnest(${textArray(names)}) o(name) cross join lateral (select q.id from (${reading.gathered(branches)}) q offset 0) p`;
}

function ownerCondition(reading: Reading, entityType: string, name: Fragment): Fragment {
  const wanted = reading.wanted({
    id: sql`r.entity_id`,
    before: { column: sql`r.attribute`, value: name },
  });
  return sql`r.entity_type = ${literal(entityType)} and r.attribute = ${name} and ${wanted}`;
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
  const at = (end: "entity" | "subject") => {
    const id = end === "entity" ? sql`r.entity_id` : sql`r.subject_id`;
    const column = end === "entity" ? sql`r.entity_type` : sql`r.subject_type`;
    const wanted = reading.wanted({ id, before: { column, value: literal(type) } });
    return {
      columns: sql`distinct ${id} as id`,
      where: sql`${column} = ${literal(type)} and ${wanted}`,
    };
  };
  const entity = at("entity");
  const subject = at("subject");
  const branches = [
    ...storedBranches(scope, entitiesTable, entity),
    ...storedBranches(scope, subjectsTable, subject),
    ...storedBranches(scope, ownersTable, entity),
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
      sql`select n.id from (select ${named} as id) n where ${reading.wanted({ id: sql`n.id` })}`,
    );
  }
  return reading.gathered(branches);
}

/** A table with an index by type, the tenant as it has it, and what says which logged rows it has. */
interface TypedTable {
  readonly live: Fragment;
  readonly tenant: Fragment;
  readonly logged: Fragment;
}

const entitiesTable: TypedTable = {
  live: sql`relationships`,
  tenant: sql`(r.tenant * 1)`,
  logged: sql`r.relation is not null`,
};
const subjectsTable: TypedTable = { ...entitiesTable, logged: sql`r.subject_id is not null` };

/** Attributes by name, and by entity whatever their names: each has an index that the other can't use. */
const attributesTable: TypedTable = {
  live: sql`attributes`,
  tenant: sql`(r.tenant * 1)`,
  logged: sql`r.attribute is not null`,
};
const ownersTable: TypedTable = { ...attributesTable, tenant: sql`(r.tenant / 1)` };

/** What stands at the statement's state, by the indexes of lookups. */
function storedBranches(
  scope: Scope,
  table: TypedTable,
  { columns, where }: { readonly columns: Fragment; readonly where: Fragment },
): Fragment[] {
  const { shape, tenant, changed } = scope;
  const { live, logged } = table;
  const all = sql`${table.tenant} = ${tenant} and ${where}`;
  if (!shape.pinned) return [sql`select ${columns} from ${live} r where ${all}`];
  return [
    sql`select ${columns} from ${live} r where ${all} and pg_visible_in_snapshot(r.created_xid, ${snapshot})`,
    sql`select ${columns} from changes r where ${changed} and ${all} and r.operation = 'delete' and ${logged} and pg_visible_in_snapshot(r.created_xid, ${snapshot}) and not pg_visible_in_snapshot(r.xid, ${snapshot})`,
  ];
}
