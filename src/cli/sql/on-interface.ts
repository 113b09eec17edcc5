import { PembaError } from "../../base/error.ts";
import type { Config } from "../../config/options.ts";
import { CompiledSchemas } from "../../store/compiled-schemas.ts";
import type { Database } from "../../store/postgres/connect/database.ts";
import { onDatabase } from "../../store/postgres/connect/on-database.ts";
import { readSchema } from "../../store/postgres/schemas.ts";
import { readInterface, stalenessOf } from "../../store/postgres/sql-interface/install.ts";
import type { InterfaceNames } from "../../store/postgres/sql-interface/interface-names.ts";
import { SqlInterface } from "../../store/postgres/sql-interface/sql-interface.ts";
import { sqlInterfaceOptionsOf } from "./interface-options-of.ts";

/** Where the SQL interface is. */
export interface InterfacePlace {
  readonly database: Database;
  readonly names: InterfaceNames;
}

/**
 * Runs work on the SQL interface of a database, which is installed. Fails as the database does, and with
 * MIGRATION when it is not installed.
 */
export async function onInterface<T>(
  config: Config,
  url: string,
  work: (sqlInterface: SqlInterface, place: InterfacePlace) => Promise<T>,
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
    const sqlInterface = new SqlInterface({ database, schemas }, names, options);
    return await work(sqlInterface, { database, names });
  });
}

/** Fails with MIGRATION unless the SQL interface is there as the configuration has it. */
export async function refuseStaleInterface(config: Config, url: string): Promise<void> {
  const options = sqlInterfaceOptionsOf(config);
  const staleness = stalenessOf(await readInterface(url, options.schema), options);
  if (staleness === undefined) return;
  throw new PembaError(
    "MIGRATION",
    `the SQL interface in the schema \`${options.schema}\` ${staleness}: run \`pemba sql enable\``,
  );
}
