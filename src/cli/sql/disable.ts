import type { Config } from "../../config/options.ts";
import { dropInterface } from "../../store/postgres/sql-interface/install.ts";
import { say } from "../output.ts";
import { onInterface } from "./on-interface.ts";

/** Drops the SQL interface, whether or not the configuration enables it. */
export async function disable(config: Config, url: string): Promise<number> {
  const schema = config["database.sql.schema"];
  const isDropped = await dropInterface(
    url,
    schema,
    async () => await onInterface(config, url, async (one) => await one.removeAll()),
  );
  say(
    isDropped
      ? `dropped the SQL interface in the schema \`${schema}\``
      : `there is no SQL interface in the schema \`${schema}\``,
  );
  return 0;
}
