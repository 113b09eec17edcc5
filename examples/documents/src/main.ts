import postgres from "postgres";

import { buildApplication } from "./application.ts";
import { connectionOptions, openDatabase } from "./data/database.ts";
import { connectPemba } from "./data/pemba.ts";
import { readSettings, tenant } from "./settings.ts";
import { openSharing } from "./sharing/sharing.ts";

const settings = readSettings(process.env);
const database = openDatabase({
  sql: postgres(settings.databaseUrl, connectionOptions),
  hasRowSecurity: settings.hasRowSecurity,
});
const pemba = connectPemba({ url: settings.pembaUrl, token: settings.pembaToken, tenant });
const sharing = openSharing(settings.sharing, database, pemba);
const application = buildApplication({ database, sharing }, { hasLog: true });
application.addHook("onClose", () => database.close());
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void application.close());
}
await application.listen({ host: settings.host, port: settings.port });
