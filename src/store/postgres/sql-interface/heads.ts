import type { PembaError } from "../../../base/error.ts";
import type { Database } from "../connect/database.ts";
import { type Row, textOf } from "../connect/row.ts";
import { arrayLiteral } from "../connect/value.ts";

/** Which heads are meant: those that lack something or `all`, of some `tenants` or of all. */
export interface ChosenHeads {
  readonly all: boolean;
  readonly tenants?: readonly string[] | undefined;
}

/** A head that could not be synced. */
export interface UnsyncedHead {
  readonly tenant: string;
  readonly error: PembaError;
}

/** What became of chosen heads. */
export interface SyncedHeads {
  /** How many were synced. */
  readonly synced: number;
  readonly unsynced: readonly UnsyncedHead[];
  /** Those of the chosen tenants that have no head, or do not exist. */
  readonly absent: readonly string[];
}

const headsPerBatch = 20;

/**
 * The rows of `heads.sql` in batches, since texts of schemas are long: without heads that have the
 * fingerprint, and only of some tenants, where these are given.
 */
export async function* readHeads(
  database: Database,
  statement: string,
  {
    fingerprint,
    tenants,
  }: {
    readonly fingerprint: string | undefined;
    readonly tenants: readonly string[] | undefined;
  },
): AsyncGenerator<Row> {
  const ids = tenants === undefined ? null : arrayLiteral(tenants);
  let after = "0";
  for (;;) {
    const rows = await database.read(statement, [after, fingerprint ?? null, headsPerBatch, ids]);
    for (const row of rows) {
      after = textOf(row, "number");
      yield row;
    }
    if (rows.length < headsPerBatch) return;
  }
}
