import { randomUUID } from "node:crypto";

import { dropTestDatabases } from "./database.ts";
import { findPostgres, type FoundServer } from "./postgres.ts";

let server: FoundServer | undefined;

/** Gives the whole run one Postgres; its address reaches the test files by their environment. */
export async function globalSetup(): Promise<void> {
  server = await findPostgres();
  process.stdout.write(`${server.description}\n`);
  process.env["PEMBA_TEST_DATABASE_URL"] = server.url;
  process.env["PEMBA_TEST_RUN"] = randomUUID().slice(0, 8);
}

/**
 * Also drops what test files that failed left on a server that is not ours to end. Node calls it
 * twice in a run that is stopped by a signal.
 */
export async function globalTeardown(): Promise<void> {
  const found = server;
  server = undefined;
  if (found === undefined) return;
  await dropTestDatabases();
  await found.stop();
}
