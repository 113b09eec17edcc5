import { type Fragment, join, param, sql, table } from "../text/fragment.ts";
import { contextAttribute, type ContextPath, type ContextShape, contextTuples } from "./context.ts";

/** What a statement reads from: each shape is a statement text of its own. */
export interface Shape extends ContextShape {
  /** At a snapshot (parameter `snapshot`) instead of now. */
  readonly pinned: boolean;
}

/** The rows of the surrounding query that a piece of a statement refers to. */
export interface StatementScope {
  readonly shape: Shape;
  /** Number of the tenant, from the row of `tenants` that the statement starts at. */
  readonly tenant: Fragment;
  /** True when something of the tenant changed after the snapshot; only in pinned shapes. */
  readonly changed: Fragment;
}

export const snapshot = param("snapshot", "pg_snapshot");

/**
 * Whether the transaction began on a standby. Its snapshots do not name the running transactions, so
 * only those below the lower end of the snapshot are known to have ended. The answer stays true if
 * the standby is promoted during the transaction.
 */
const isOnStandby = sql`current_setting('transaction_read_only') = 'on'`;

const reachedXid = sql`
  case
    when ${isOnStandby} then pg_snapshot_xmin(pg_current_snapshot())
    else pg_snapshot_xmax(pg_current_snapshot())
  end
`;

/**
 * The state of the tenant of the row `t` of `tenants` that a statement without a pinned one reads,
 * from which its token is made; `snapshot` is null on a standby that has no name for it. A token shows
 * nothing above `durable`, the last durable id.
 */
export const stateColumns = sql`
  case
    when ${isOnStandby} then settled_state(t.number, t.created_xid)
    else pg_current_snapshot()::text
  end as snapshot,
  greatest(t.created_xid, (select d.xid from durable_xid d))::text as durable,
  current_timeline() as timeline
`;

/**
 * What a statement shows for certain, as the text of a snapshot: that of a standby is cut at its lower
 * end. `sql/changes/since.sql` returns the same.
 */
export const shownColumn = sql`
  case
    when ${isOnStandby} then
      concat_ws(
        ':', pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmin(pg_current_snapshot()), ''
      )
    else pg_current_snapshot()::text
  end as shown
`;

/**
 * What a statement needs to know of a pinned snapshot, for the tenant of the row `t` of `tenants`:
 * whether it can be read here, and whether the tenant changed since. If it did not, no probe reads
 * the log. A snapshot of another timeline may be lost (see `is_lost`). A snapshot that does not show
 * the creation of the tenant belongs to an older tenant of the same id. Transactions that the
 * snapshot does not show are found by its upper bound and by its list of ids: a filter would read the
 * log since the oldest of them. A token that an application took inside its own transaction names a change
 * that may still be open: it is of the future until that is committed. If the transaction wrote more after
 * that, the state of the token never was: others may have changed something between.
 */
export const pinTable = sql`
  select pg_snapshot_xmax(${snapshot}) > ${reachedXid}
    or not pg_visible_in_snapshot(${param("snapshot_change", "xid8")}, pg_current_snapshot())
      as is_future,
    ${param("snapshot_timeline", "int")} <> current_timeline()
    and is_lost(
      t.number, ${param("snapshot_timeline", "int")}, ${param("snapshot_change", "xid8")},
      ${param("snapshot_taken_before", "xid8")}
    ) as is_lost,
    pg_snapshot_xmin(${snapshot}) < (select i.horizon from installation i) as is_expired,
    not pg_visible_in_snapshot(t.created_xid, ${snapshot}) as is_before_tenant,
    ${param("snapshot_last", "text")} <> ''
    and is_logged_otherwise(
      t.number, ${param("snapshot_change", "xid8")}, ${param("snapshot_last", "text")}
    ) as is_partial,
    (
      exists (
        select 1 from changes l where l.tenant = t.number and l.xid >= pg_snapshot_xmax(${snapshot})
      )
      or exists (
        select 1
        from pg_snapshot_xip(${snapshot}) x(xid)
        cross join lateral (
          select 1 from changes l where l.tenant = t.number and l.xid = x.xid limit 1
        ) l
      )
    ) as changed
  offset 0
`;

/** The columns that a pinned statement returns of its snapshot. */
export const pinColumns = sql`
  p.is_future, p.is_lost, p.is_expired, p.is_before_tenant, p.is_partial
`;

/** The tenant of a row of the log, as the indexes of deleted rows have it (see `changes`). */
export const loggedTenant = sql`(r.tenant + 0)`;

/** A table, and the tenant of its rows and of those in the log, as the index to be used has it. */
export interface FactTable {
  readonly table: Fragment;
  readonly tenant: Fragment;
  readonly loggedTenant: Fragment;
  /** The condition for rows of the log that were in the table, unless `where` implies it. */
  readonly logged: Fragment | undefined;
}

export const tuplesTable: FactTable = {
  table: table("relationships"),
  tenant: sql`r.tenant`,
  loggedTenant,
  logged: undefined,
};

export const attributesTable: FactTable = {
  ...tuplesTable,
  table: table("attributes"),
  logged: sql`r.attribute is not null`,
};

/**
 * The rows of a table at the statement's state, as `r`, each branch a query: the live ones, and in a
 * pinned shape those that were deleted since.
 */
export function storedBranches(
  { shape, tenant, changed }: StatementScope,
  stored: FactTable,
  { columns, where }: { readonly columns: Fragment; readonly where: Fragment },
): Fragment[] {
  const live = sql`
    select ${columns} from ${stored.table} r where ${stored.tenant} = ${tenant} and ${where}
  `;
  if (!shape.pinned) return [live];
  const isLogged = stored.logged === undefined ? sql`` : sql` and ${stored.logged}`;
  return [
    sql`${live} and pg_visible_in_snapshot(r.created_xid, ${snapshot})`,
    sql`
      select ${columns}
      from ${table("changes")} r
      where ${changed}
      and ${stored.loggedTenant} = ${tenant}
      and r.operation = 'delete'${isLogged}
      and ${where}
      and pg_visible_in_snapshot(r.created_xid, ${snapshot})
      and not pg_visible_in_snapshot(r.xid, ${snapshot})
    `,
  ];
}

/**
 * Tuples at the statement's state, as `r` with the columns of `relationships`: the live ones, and
 * in a pinned shape those that were deleted since, and in a contextual shape those of the request.
 * Every branch is a probe of an index, `where` names its leading columns and a relation, which no
 * logged attribute has. `path` leads to the contextual ones among which `where` chooses.
 */
export function tupleProbe(
  scope: StatementScope,
  columns: Fragment,
  where: Fragment,
  path: ContextPath,
): Fragment {
  return join(tupleBranches(scope, columns, where, path), " union all ");
}

/** The branches of a `tupleProbe`, each a query. */
export function tupleBranches(
  scope: StatementScope,
  columns: Fragment,
  where: Fragment,
  path: ContextPath,
): Fragment[] {
  const { shape } = scope;
  const branches = storedBranches(scope, tuplesTable, { columns, where });
  if (shape.contextTuples) {
    branches.push(sql`select ${columns} from (${contextTuples(path)}) r where ${where}`);
  }
  return branches;
}

/**
 * Branches that run for every row of the surrounding query, as its lateral subquery. A single branch
 * gets an `offset 0`. Without it, the planner would merge the branch into that query as a join, and
 * could begin this join with all tuples of the tenant while there are no statistics.
 */
export function lateralBranches(branches: readonly Fragment[]): Fragment {
  const all = join(branches, " union all ");
  return branches.length === 1 ? sql`lateral (${all} offset 0)` : sql`lateral (${all})`;
}

/**
 * The attribute of an entity at the statement's state: at most one row with the columns
 * `value_type` and `value`. An attribute of the request overrides a stored one.
 */
export function attributeProbe(
  scope: StatementScope,
  entity: { readonly type: Fragment; readonly id: Fragment },
  name: Fragment,
): Fragment {
  const { shape } = scope;
  const where = sql`
    r.entity_id = ${entity.id} and r.attribute = ${name} and r.entity_type = ${entity.type}
  `;
  const branches: Fragment[] = [];
  if (shape.contextAttributes) {
    branches.push(contextAttribute(entity.type, entity.id, name));
  }
  branches.push(
    ...storedBranches(scope, attributesTable, { columns: sql`r.value_type, r.value`, where }),
  );
  // An append runs its branches in their order, so the first row is the one that counts.
  return branches.length === 1
    ? join(branches, "")
    : sql`select * from (${join(branches, " union all ")}) a limit 1`;
}
