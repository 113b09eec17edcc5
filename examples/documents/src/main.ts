import postgres from "postgres";

import { buildApplication } from "./application.ts";
import { connectionOptions, openDatabase } from "./data/database.ts";
import { connectPemba } from "./data/pemba.ts";
import { readSettings, tenant } from "./settings.ts";

const settings = readSettings(process.env);
const database = openDatabase({
  sql: postgres(settings.databaseUrl, connectionOptions),
  hasRowSecurity: settings.hasRowSecurity,
});
const pemba = connectPemba({ url: settings.pembaUrl, token: settings.pembaToken, tenant });
const application = buildApplication({ database, pemba }, { hasLog: true });
application.addHook("onClose", () => database.close());
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void application.close());
}
await application.listen({ host: settings.host, port: settings.port });
