import type { TestContext } from "node:test";

import { pino } from "pino";
import type postgres from "postgres";

import { noTelemetry } from "../../src/base/telemetry.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { openStore } from "../../src/cli/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { connect } from "../store/open-write.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { configOf } from "../support/given-config.ts";

export interface ConfiguredStore {
  readonly store: Store;
  /** Connections of the test's own to its database. */
  readonly sql: postgres.Sql;
  /** What was logged, as JSON. */
  readonly log: readonly string[];
}

/**
 * A store as the flags configure it, over a Postgres database of its own that `database.uri` names
 * unless a flag does; `{url}` in a flag is its address.
 */
export async function openConfigured(
  t: TestContext,
  ...flags: readonly string[]
): Promise<ConfiguredStore> {
  const { url, drop } = await createMigratedDatabase();
  const log: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void log.push(line) });
  const named = flags.map((flag) => flag.replace("{url}", url));
  const config = configOf({
    args: ["--database-engine=postgres", `--database-uri=${url}`, ...named],
  });
  const store = await openStore(config, { logger, telemetry: noTelemetry }, t.signal);
  const sql = connect(url);
  t.after(async () => {
    await store.close();
    await sql.end({ timeout: 1 });
    await drop();
  });
  return { store, sql, log };
}

/** A read that needs no schema. */
export async function readAll(store: Store, tenant: TenantId): Promise<void> {
  const anything = { type: "", ids: [], relation: "" };
  await store.data.readTuples(tenant, {
    filter: { entity: { type: "doc", ids: [] }, relation: "", subject: anything },
    snapToken: undefined,
    after: undefined,
    limit: 1,
  });
}
