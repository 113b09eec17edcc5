import { pause } from "../../../base/pause.ts";
import type { Database } from "../../postgres/connect/database.ts";
import { statementFile } from "../../postgres/connect/statement-file.ts";
import type { SqlInterface } from "../../postgres/sql-interface/sql-interface.ts";
import { TenantRemoval } from "../../postgres/tenant-removal.ts";

const pendingStatement = statementFile("removal/pending.sql");

const lookEveryMs = 200;

/**
 * Removes the rows of tenants that a database does not have any more, or waits while an instance does. Resolves to false
 * if some are left when the signal is aborted or the time is over. Instances go on with those.
 */
export async function removeRows(
  { database, sqlInterface }: { readonly database: Database; readonly sqlInterface?: SqlInterface },
  {
    patienceMs,
    signal,
    warn,
  }: {
    readonly patienceMs: number;
    readonly signal: AbortSignal;
    readonly warn: (message: string) => void;
  },
): Promise<boolean> {
  const removal = new TenantRemoval({ database, warn, sqlInterface });
  const until = performance.now() + patienceMs;
  try {
    removal.start();
    while ((await database.query(pendingStatement, [])).length > 0) {
      if (signal.aborted || performance.now() >= until) return false;
      await pause(lookEveryMs, signal);
    }
    return true;
  } finally {
    await removal.close();
  }
}
