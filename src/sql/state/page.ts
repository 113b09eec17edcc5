import {
  type Fragment,
  identifier,
  join,
  param,
  render,
  type Statement,
  sql,
} from "../text/fragment.ts";
import { loggedTenant, snapshot } from "./source.ts";
import { isAskedTenant, stateColumnsOf, tenantRow } from "./tenant-row.ts";

/** What is read in pages. Each source has an index that gives the order of its pages. */
export type PageSource = "tuples_by_entity" | "tuples_by_subject" | "attributes";

/** What the text of a page statement depends on. Its values are parameters. */
export interface PageShape {
  readonly source: PageSource;
  /** At a snapshot (parameter `snapshot`) instead of now. */
  readonly pinned: boolean;
  /** Only rows after a given one (parameters `after_0`, `after_1` ... in the order of the source). */
  readonly after: boolean;
  /** Only rows with one of these values in the first column of the order (parameter `ids`). */
  readonly byIds: boolean;
  /** Columns with one wanted value, which is the parameter of the same name. */
  readonly equal: readonly string[];
  /** Columns with several, in an array. */
  readonly among: readonly string[];
}

interface PageTable {
  readonly table: Fragment;
  readonly columns: readonly string[];
  /** The columns of the index but for the tenant. */
  readonly order: readonly string[];
  /** How many of them come before the tenant in the index. */
  readonly tenantAt: number;
  /** Which deletes in the log are of this table. */
  readonly logged: Fragment;
}

const tupleColumns = [
  "entity_type",
  "entity_id",
  "relation",
  "subject_type",
  "subject_id",
  "subject_relation",
];

const sources: Readonly<Record<PageSource, PageTable>> = {
  tuples_by_entity: {
    table: sql`relationships`,
    columns: tupleColumns,
    order: [
      "entity_id",
      "relation",
      "entity_type",
      "subject_type",
      "subject_relation",
      "subject_id",
    ],
    tenantAt: 3,
    logged: sql`r.relation is not null`,
  },
  tuples_by_subject: {
    table: sql`relationships`,
    columns: tupleColumns,
    order: [
      "subject_id",
      "subject_type",
      "subject_relation",
      "entity_type",
      "relation",
      "entity_id",
    ],
    tenantAt: 2,
    logged: sql`r.subject_id is not null`,
  },
  attributes: {
    table: sql`attributes`,
    columns: ["entity_type", "entity_id", "attribute", "value_type", "value"],
    order: ["entity_id", "attribute", "entity_type"],
    tenantAt: 3,
    logged: sql`r.attribute is not null`,
  },
};

/**
 * The statement that reads at most `limit` rows of a tenant in the order of an index, with the
 * columns of the source. Each row also has columns of the state: in a pinned shape whether it cannot
 * be read (`pinColumns`), in the others `snapshot` and `timeline`, from which a token is made. If
 * there is nothing to read, there is one row whose other columns are null. No row at all: the tenant
 * does not exist. `ids` must be ascending and without repeats. They are read one by one, so that a
 * page costs what it holds and not what follows it. Values of attributes may be large, so reading ends
 * with the row that brings them above `max_bytes` of text, which `is_beyond` marks. A first row may be larger by itself:
 * it is not marked, and the row behind it is.
 */
export function pageStatement(shape: PageShape): Statement {
  const { order } = sources[shape.source];
  const found = shape.byIds ? rowsOfIds(shape) : rowsInOrder(shape);
  const rows = shape.source === "attributes" ? rowsWithin(found, shape) : found;
  const position = shape.byIds ? sql`e.position, ` : sql``;
  return render(
    sql`
      select ${stateColumnsOf(shape)}, e.*
      from ${tenantRow(shape, rows)}
      left join lateral (${rows}) e on true
      where ${isAskedTenant}
      order by ${position}${columnsOf("e", order)}
    `,
  );
}

const limit = param("limit", "int");

function rowsWithin(found: Fragment, { source, byIds }: PageShape): Fragment {
  const place = columnsOf("f", [...(byIds ? ["position"] : []), ...sources[source].order]);
  const bytesBefore = (end: Fragment): Fragment =>
    sql`
      coalesce(sum(f.bytes) over (order by ${place} rows between unbounded preceding and ${end}), 0)
    `;
  const before = bytesBefore(sql`1 preceding`);
  const max = param("max_bytes", "bigint");
  // The offset is a fence: without it, each value would be made text once for each sum.
  const measured = sql`select r.*, octet_length(r.value::text) as bytes from (${found}) r offset 0`;
  return sql`
    select b.*
    from (
      select f.*, ${before} > 0 and ${before} + f.bytes > ${max} as is_beyond,
        ${before} <= ${max} or ${bytesBefore(sql`2 preceding`)} = 0 as is_near
      from (${measured}) f
    ) b
    where b.is_near
  `;
}

function rowsOfIds(shape: PageShape): Fragment {
  const { order } = sources[shape.source];
  return sql`
    select w.position, o.*
    from unnest(${param("ids", "text[]")})
    with ordinality as w(id, position)
    cross join lateral (${rowsInOrder(shape)}) o
    order by w.position, ${columnsOf("o", order)}
    limit ${limit}
  `;
}

function rowsInOrder(shape: PageShape): Fragment {
  const { columns, order, table, logged } = sources[shape.source];
  const wanted = conditions(shape, sql`r.tenant`);
  const read = columnsOf("r", columns);
  const inOrder = sql`order by ${columnsOf("r", order)} limit ${limit}`;
  const live = sql`select ${read} from ${table} r where ${wanted}`;
  if (!shape.pinned) return sql`${live} ${inOrder}`;
  const deleted = sql`
    select ${read}
    from changes r
    where p.changed
    and ${conditions(shape, loggedTenant)}
    and r.operation = 'delete'
    and ${logged}
    and pg_visible_in_snapshot(r.created_xid, ${snapshot})
    and not pg_visible_in_snapshot(r.xid, ${snapshot})
  `;
  // Each side has its own limit: without it, the planner would sort both sides whole to merge them.
  return sql`
    select ${read}
    from (
      (${live} and pg_visible_in_snapshot(r.created_xid, ${snapshot}) ${inOrder})
      union all
      (${deleted} ${inOrder})
    ) r ${inOrder}
  `;
}

function conditions(shape: PageShape, tenant: Fragment): Fragment {
  const { order, tenantAt } = sources[shape.source];
  const [first = ""] = order;
  const column = (name: string): Fragment => sql`r.${identifier(name)}`;
  const all = [sql`${tenant} = t.number`];
  if (shape.byIds) all.push(sql`${column(first)} = w.id`);
  for (const name of shape.equal) all.push(sql`${column(name)} = ${param(name, "text")}`);
  for (const name of shape.among) all.push(sql`${column(name)} = any(${param(name, "text[]")})`);
  if (shape.after) {
    // The tenant is included only to compare the whole index key.
    const place = order.map((_, index) => param(`after_${index}`, "text"));
    const left = order.map(column).toSpliced(tenantAt, 0, tenant);
    const right = place.toSpliced(tenantAt, 0, sql`t.number`);
    all.push(sql`(${join(left, ", ")}) > (${join(right, ", ")})`);
  }
  return join(all, " and ");
}

function columnsOf(alias: string, names: readonly string[]): Fragment {
  return join(
    names.map((name) => sql`${identifier(alias)}.${identifier(name)}`),
    ", ",
  );
}
