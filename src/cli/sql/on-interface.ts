import { PembaError } from "../../base/error.ts";
import type { Config } from "../../config/options.ts";
import { CompiledSchemas } from "../../store/compiled-schemas.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import { readSchema } from "../../store/postgres/schemas.ts";
import { readInterface } from "../../store/postgres/sql-interface/install.ts";
import { SqlInterface } from "../../store/postgres/sql-interface/sql-interface.ts";
import { sqlInterfaceOptionsOf } from "./interface-options-of.ts";

/**
 * Runs work on the SQL interface of a database, which is installed. Fails as the database does, and with
 * MIGRATION when it is not installed.
 */
export async function onInterface<T>(
  config: Config,
  url: string,
  work: (sqlInterface: SqlInterface) => Promise<T>,
): Promise<T> {
  const options = sqlInterfaceOptionsOf(config);
  const { names, installed } = await readInterface(url, options.schema);
  if (installed === undefined) {
    throw new PembaError(
      "MIGRATION",
      `there is no SQL interface in the schema \`${options.schema}\`: run \`pemba sql enable\``,
    );
  }
  return await onDatabase(url, async (database) => {
    const schemas = new CompiledSchemas(
      (tenant, version) => readSchema(database, tenant, version),
      { maxBytes: config["service.schema.cache.max_cost"] },
    );
    return await work(new SqlInterface({ database, schemas }, names, options));
  });
}
