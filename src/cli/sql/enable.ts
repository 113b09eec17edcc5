import type { Config } from "../../config/options.ts";
import { refusePendingMigrations } from "../../store/postgres/migrate.ts";
import { makersWarnings } from "../../store/postgres/schema-makers.ts";
import { installInterface } from "../../store/postgres/sql-interface/install.ts";
import { complain, say, warn } from "../output.ts";
import { sqlInterfaceOptionsOf } from "./interface-options-of.ts";
import { onInterface } from "./on-interface.ts";

/** Installs the SQL interface and syncs all heads that lack something. */
export async function enable(config: Config, url: string): Promise<number> {
  await refusePendingMigrations(url);
  for (const warning of await makersWarnings(url)) warn(warning);
  const options = sqlInterfaceOptionsOf(config);
  const isChanged = await installInterface(url, options);
  say(
    isChanged
      ? `installed the SQL interface in the schema \`${options.schema}\``
      : `the SQL interface in the schema \`${options.schema}\` is up to date`,
  );
  return await onInterface(config, url, async (sqlInterface) => {
    const { synced, unsynced } = await sqlInterface.syncHeads({ all: false, mayMake: true });
    say(`synced the schemas of ${synced} tenants`);
    if (unsynced.length === 0) return 0;
    return complain(
      ...unsynced.map(
        ({ tenant, error }) =>
          `the schema of the tenant \`${tenant}\` cannot be asked in SQL: ${error.plainMessage}`,
      ),
    );
  });
}
