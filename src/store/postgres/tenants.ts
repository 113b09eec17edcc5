import { must } from "../../base/assert.ts";
import type { TenantId } from "../../base/tuple.ts";
import { pageOf } from "../page.ts";
import { tenantNotFound, tenantTaken } from "../store-error.ts";
import type { Tenant, TenantStore } from "../store.ts";
import type { Database } from "./connect/database.ts";
import { booleanOf, dateOf, type Row, textOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";
import { arrayLiteral } from "./connect/value.ts";
import { lockWait } from "./data/change-outcome.ts";

const createStatement = statementFile("tenants/create.sql");
const deleteStatement = statementFile("tenants/delete.sql");
const listStatement = statementFile("tenants/list.sql");
const listAmongStatement = statementFile("tenants/list-among.sql");

/** The tenants of a database. `onDeleted` is called when rows of a tenant are left to be removed. */
export function createPostgresTenants(
  database: Database,
  lockWaitMs: number | undefined,
  onDeleted: (tenant: TenantId) => void,
): TenantStore {
  return {
    async create({ id, name }) {
      const [row] = await database.write(createStatement, [id, name]);
      if (row === undefined) throw tenantTaken(id);
      return { id, name, createdAt: dateOf(row, "created_at") };
    },

    async delete(id) {
      const [row] = await database.write(deleteStatement, [id, lockWait(lockWaitMs)]);
      const deleted = booleanOf(must(row, "a select without a table has one row"), "deleted");
      if (!deleted) throw tenantNotFound(id);
      onDeleted(id);
    },

    async list({ after, limit, among }) {
      // Every id comes after the empty text.
      const place = [after ?? "", limit + 1];
      const rows =
        among === undefined
          ? await database.read(listStatement, place)
          : await database.read(listAmongStatement, [...place, arrayLiteral([...among])]);
      return pageOf(rows.map(tenantOf), limit, ({ id }) => id);
    },
  };
}

function tenantOf(row: Row): Tenant {
  return {
    // It was a tenant id when it was stored.
    id: textOf(row, "id") as TenantId,
    name: textOf(row, "name"),
    createdAt: dateOf(row, "created_at"),
  };
}
