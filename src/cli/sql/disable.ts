import type { Config } from "../../config/options.ts";
import { dropInterface, readInterface } from "../../store/postgres/sql-interface/install.ts";
import { say } from "../output.ts";
import { onInterface } from "./on-interface.ts";

/** Drops the SQL interface, whether or not the configuration enables it. */
export async function disable(config: Config, url: string): Promise<number> {
  const schema = config["database.sql.schema"];
  const { installed } = await readInterface(url, schema);
  if (installed === undefined) {
    say(`there is no SQL interface in the schema \`${schema}\``);
    return 0;
  }
  // A transaction that dropped all functions at once could need more locks than the server has.
  await onInterface(config, url, async (sqlInterface) => await sqlInterface.removeAll());
  await dropInterface(url, schema);
  say(`dropped the SQL interface in the schema \`${schema}\``);
  return 0;
}
