import type { TenantId } from "../../base/tuple.ts";
import { type Page, pageOf } from "../page.ts";
import type { Tenant, TenantStore } from "../store.ts";
import { dateOf, type Row, tenantIdOf, textOf } from "./connect/row.ts";
import { arrayLiteral, type ParameterValue } from "./connect/value.ts";

/** The statements that list tenants: all, and those of given ids. */
export interface TenantStatements {
  readonly all: string;
  readonly among: string;
}

/** A page of tenants, as a store lists them. */
export async function readTenantPage(
  statements: TenantStatements,
  { after, limit, among }: Parameters<TenantStore["list"]>[0],
  read: (statement: string, values: readonly ParameterValue[]) => Promise<readonly Row[]>,
): Promise<Page<Tenant, TenantId>> {
  // Every id comes after the empty text.
  const place = [after ?? "", limit + 1];
  const rows =
    among === undefined
      ? await read(statements.all, place)
      : await read(statements.among, [...place, arrayLiteral([...among])]);
  return pageOf(rows.map(tenantOf), limit, ({ id }) => id);
}

/** Its cluster is known where tenants are placed. */
function tenantOf(row: Row): Tenant {
  return {
    id: tenantIdOf(row, "id"),
    name: textOf(row, "name"),
    ...("cluster" in row && { cluster: textOf(row, "cluster") }),
    createdAt: dateOf(row, "created_at"),
  };
}
