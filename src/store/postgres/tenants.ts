import { must } from "../../base/assert.ts";
import type { TenantId } from "../../base/tuple.ts";
import { tenantNotFound, tenantTaken } from "../store-error.ts";
import type { TenantStore } from "../store.ts";
import type { Database } from "./connect/database.ts";
import { booleanOf, dateOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";
import { lockWait } from "./data/change-outcome.ts";
import { readTenantPage, type TenantStatements } from "./tenant-page.ts";

const createStatement = statementFile("tenants/create.sql");
const deleteStatement = statementFile("tenants/delete.sql");
const listStatements: TenantStatements = {
  all: statementFile("tenants/list.sql"),
  among: statementFile("tenants/list-among.sql"),
};

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

    list: async (page) =>
      await readTenantPage(
        listStatements,
        page,
        async (statement, values) => await database.read(statement, values),
      ),
  };
}
