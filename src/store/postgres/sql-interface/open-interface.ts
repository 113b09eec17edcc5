import { PembaError } from "../../../base/error.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import type { Database } from "../connect/database.ts";
import { installInterface, readInterface, stalenessOf } from "./install.ts";
import type { SqlInterfaceOptions } from "./interface-options.ts";
import { SqlInterface } from "./sql-interface.ts";

/**
 * Opens the SQL interface of a database, and syncs the heads that it does not know. Where `mayInstall`,
 * installs or upgrades it first. Fails with MIGRATION when it is not there as the options have it.
 */
export async function openSqlInterface(
  parts: { readonly database: Database; readonly schemas: CompiledSchemas },
  {
    url,
    options,
    mayInstall,
    warn,
  }: {
    readonly url: string;
    readonly options: SqlInterfaceOptions;
    readonly mayInstall: boolean;
    readonly warn: (message: string) => void;
  },
): Promise<SqlInterface> {
  if (mayInstall) await installInterface(url, options);
  const state = await readInterface(url, options.schema);
  const { names, role, mayCreate } = state;
  const staleness = stalenessOf(state, options);
  if (staleness !== undefined) {
    throw new PembaError(
      "MIGRATION",
      `\`database.sql.enabled\` is true, but the SQL interface ${staleness}: run \`pemba sql enable\`, or set \`database.auto_migrate\``,
    );
  }
  if (options.sync === "write" && !mayCreate) {
    throw new PembaError(
      "MIGRATION",
      `\`database.sql.sync\` is \`write\`, but the role \`${role}\` may not make functions in the schema \`${names.plans}\`: grant it \`create\` there, or set \`command\``,
    );
  }
  const sqlInterface = new SqlInterface(parts, names, options);
  const mayMake = options.sync === "write";
  const { unsynced } = await sqlInterface.syncHeads({ all: false, mayMake });
  for (const { tenant, error } of unsynced) {
    warn(`the schema of the tenant \`${tenant}\` cannot be asked in SQL: ${error.plainMessage}`);
  }
  return sqlInterface;
}
