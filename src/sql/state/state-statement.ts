import { render, type Statement, sql } from "../text/fragment.ts";
import { pinColumns, snapshot } from "./source.ts";
import { isAskedTenant, tenantRow, versionColumns } from "./tenant-row.ts";

/**
 * The statement that names the state of a tenant at a snapshot, in one row:
 *
 * - `head_version`: the true head; with a pinned version, `has_version`
 * - `pinColumns`: whether the snapshot can't be read
 * - `number` of the tenant, which is never used again
 * - `last_change`: the last transaction that changed something of the tenant and is visible in it;
 *   null when none is logged
 * - `hidden`: transactions before that one that are not visible in the snapshot, without those that
 *   are known to have changed nothing of the tenant
 *
 * Snapshots of a timeline with the same number, last change and hidden transactions name the same
 * state. No row: the tenant does not exist. Parameters: `tenant`, the snapshot's, and `version`.
 */
export function stateStatement(shape: { readonly pinnedVersion: boolean }): Statement {
  const last = sql`
    select l.xid
    from changes l
    where l.tenant = t.number
    and l.xid < pg_snapshot_xmax(${snapshot})
    and pg_visible_in_snapshot(l.xid, ${snapshot})
    order by l.xid desc
    limit 1
  `;
  const changed = sql`exists (select 1 from changes c where c.tenant = t.number and c.xid = x.xid)`;
  const hidden = sql`
    select coalesce(string_agg(x.xid::text, ',' order by x.xid), '') as hidden
    from pg_snapshot_xip(${snapshot}) x(xid)
    where x.xid < l.xid
    and (${changed} or not pg_visible_in_snapshot(x.xid, pg_current_snapshot()))
  `;
  return render(
    sql`
      select t.number::text as number, ${versionColumns(shape)}, ${pinColumns},
        l.xid::text as last_change, h.hidden
      from ${tenantRow({ pinned: true }, hidden)}
      left join lateral (${last}) l on true
      cross join lateral (${hidden}) h
      where ${isAskedTenant}
    `,
  );
}
