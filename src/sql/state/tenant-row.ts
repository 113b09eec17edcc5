import { type Fragment, join, param, sql } from "../text/fragment.ts";
import { contextRow, contextTables } from "./context.ts";
import { pinColumns, pinTable, type StatementScope, type Shape, stateColumns } from "./source.ts";

/** The `with` of a statement whose body reads lists of its context; empty for other statements. */
export function withContext(body: Fragment): Fragment {
  const tables = contextTables(body);
  return tables.length === 0 ? sql`` : sql`with ${join(tables, ", ")}`;
}

/** The row of the tenant, with which every statement begins, beside what its body needs. */
export function tenantRow({ pinned }: Pick<Shape, "pinned">, body: Fragment): Fragment {
  const context = contextRow(body);
  return sql`
    tenants t
    ${pinned ? sql`cross join lateral (${pinTable}) p` : sql``}
    ${context === undefined ? sql`` : sql`cross join ${context}`}
  `;
}

export const isAskedTenant = sql`t.id = ${param("tenant", "text")}`;

/** The scope of the parts of a statement that are joined to the row of the tenant. */
export function scopeOf(shape: Shape): StatementScope {
  return { shape, tenant: sql`t.number`, changed: sql`p.changed` };
}

/** `head_version`: the true head; in a shape with a pinned version, `has_version`. */
export function versionColumns({ pinnedVersion }: { readonly pinnedVersion: boolean }): Fragment {
  return pinnedVersion
    ? sql`
      t.head_version,
      exists (
        select 1
        from schemas v
        where v.tenant = t.number
        and v.version = ${param("version", "text")}
      ) as has_version
    `
    : sql`t.head_version`;
}

/** In pinned shapes whether the state cannot be read, in the others the columns of its token. */
export function stateColumnsOf({ pinned }: Pick<Shape, "pinned">): Fragment {
  return pinned ? pinColumns : stateColumns;
}
