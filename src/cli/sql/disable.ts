import type { Config } from "../../config/options.ts";
import { dropInterface } from "../../store/postgres/sql-interface/install.ts";
import { say } from "../output.ts";
import { onInterface } from "./on-interface.ts";

/** A connection of a server does not show with which keys it was started. */
const advice =
  "a server that still has `database.sql.enabled` refuses schema writes: set it to false and restart the server, or run `pemba sql enable`";

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
      ? `dropped the SQL interface in the schema \`${schema}\`\n${advice}`
      : `there is no SQL interface in the schema \`${schema}\``,
  );
  return 0;
}
