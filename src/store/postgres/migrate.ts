import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import { PG_MIGRATE_LOCK_ID, runner } from "node-pg-migrate";

import { must } from "../../base/assert.ts";
import { PembaError } from "../../base/error.ts";
import type { Database } from "./connect/database.ts";
import { storageError } from "./connect/driver-error.ts";
import { onDatabase } from "./connect/on-database.ts";
import { openWay } from "./connect/open-way.ts";
import { booleanOf, dateOf, type Row, textOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";

export interface MigrationState {
  readonly name: string;
  /** Undefined while it is not applied. */
  readonly appliedAt: Date | undefined;
}

const directory = fileURLToPath(new URL("../../../migrations/", import.meta.url));
const table = "pemba_migrations";
const placeStatement = statementFile("migrations/place.sql");
const lockStatement = statementFile("migrations/lock.sql");
const appliedStatement = statementFile("migrations/applied.sql");

const connectTimeoutMs = 30_000;

/**
 * Applies all migrations that are not applied yet, all or none, after waiting for any other
 * instance that does the same. Returns the names of those applied.
 */
export async function migrateUp(url: string): Promise<readonly string[]> {
  const states = await migrationStatus(url);
  if (states.every(({ appliedAt }) => appliedAt !== undefined)) return [];
  return await migrate(url, "up", Infinity);
}

/** Takes back the `count` latest migrations, all or none. Returns their names, the latest first. */
export async function migrateDown(url: string, count: number): Promise<readonly string[]> {
  return await migrate(url, "down", count);
}

/** All migrations in their order, and since when each is applied. */
export async function migrationStatus(url: string): Promise<readonly MigrationState[]> {
  return await onDatabase(url, async (database) => {
    const applied = new Map<string, Date>();
    if ((await placeOf(database)).exists) {
      for (const row of await database.query(appliedStatement, [])) {
        applied.set(textOf(row, "name"), dateOf(row, "applied_at"));
      }
    }
    const files = await readdir(directory);
    const names = files.toSorted().map((file) => basename(file, ".sql"));
    return names.map((name) => ({ name, appliedAt: applied.get(name) }));
  });
}

/** Fails with MIGRATION when there are migrations that are not applied. */
export async function refusePendingMigrations(url: string): Promise<void> {
  const states = await migrationStatus(url);
  const pending = states.filter(({ appliedAt }) => appliedAt === undefined);
  if (pending.length === 0) return;
  const names = pending.map(({ name }) => `\`${name}\``).join(", ");
  throw new PembaError(
    "MIGRATION",
    `the database lacks ${names}: run \`pemba migrate up\` or set \`database.auto_migrate\``,
  );
}

async function migrate(
  url: string,
  direction: "up" | "down",
  count: number,
): Promise<readonly string[]> {
  const { schema } = await onDatabase(url, placeOf);
  const { first: connection } = await openWay({ url, timeoutMs: connectTimeoutMs, warn: () => {} });
  let failure: unknown;
  const query = async (text: string): Promise<{ readonly rows: readonly Row[] }> => {
    try {
      return { rows: await connection.script(text) };
    } catch (error) {
      // The library makes an error of its own of it, with a stack and no reason.
      failure ??= error;
      throw error;
    }
  };
  try {
    // The library is given this transaction for its own: a lock of the session would be anybody's
    // behind a pooler that gives out the server by the transaction.
    await connection.script("begin isolation level read committed");
    await connection.run(lockStatement, [PG_MIGRATE_LOCK_ID]);
    const done = await runner({
      dbClient: { query },
      noLock: true,
      dir: directory,
      direction,
      count,
      migrationsTable: table,
      migrationsSchema: schema,
      singleTransaction: true,
      logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    });
    return done.map(({ name }) => name);
  } catch (error) {
    const known = storageError(failure ?? error);
    if (known.code !== "INTERNAL") throw known;
    const { cause } = known;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PembaError(
      "MIGRATION",
      `migrating ${direction} failed and changed nothing: ${reason}`,
      { cause },
    );
  } finally {
    await connection.close();
  }
}

/** The schema in which the connection makes its tables, and whether migrations stand in it. */
async function placeOf(
  database: Database,
): Promise<{ readonly schema: string; readonly exists: boolean }> {
  const [row] = await database.query(placeStatement, [table]);
  const place = must(row, "a select without a table has one row");
  if (place["schema"] === null) {
    throw new PembaError("MIGRATION", "no schema of the connection's `search_path` exists");
  }
  return { schema: textOf(place, "schema"), exists: booleanOf(place, "exists") };
}
