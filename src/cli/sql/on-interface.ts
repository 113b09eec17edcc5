import type { Config } from "../../config/options.ts";
import { CompiledSchemas } from "../../store/compiled-schemas.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import { readSchema } from "../../store/postgres/schemas.ts";
import { readInterface } from "../../store/postgres/sql-interface/install.ts";
import { SqlInterface } from "../../store/postgres/sql-interface/sql-interface.ts";
import { sqlInterfaceOptionsOf } from "./interface-options-of.ts";

/** Runs work on the SQL interface of a database, which is installed. Fails as the database does. */
export async function onInterface<T>(
  config: Config,
  url: string,
  work: (sqlInterface: SqlInterface) => Promise<T>,
): Promise<T> {
  const options = sqlInterfaceOptionsOf(config);
  const { names } = await readInterface(url, options.schema);
  return await onDatabase(url, async (database) => {
    const schemas = new CompiledSchemas(
      (tenant, version) => readSchema(database, tenant, version),
      { maxBytes: config["service.schema.cache.max_cost"] },
    );
    return await work(new SqlInterface({ database, schemas }, names, options));
  });
}
