import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import { must } from "../../base/assert.ts";
import { PembaError } from "../../base/error.ts";
import { quotedName } from "../../sql/text/quote.ts";
import { migrationsTable as table, openRoute } from "./connect/connection-route.ts";
import type { Connection } from "./connect/connection.ts";
import { storageError } from "./connect/driver-error.ts";
import { booleanOf, dateOf, textOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";
import { type MigrationClient, openMigrationClient } from "./migration-client.ts";

export interface MigrationState {
  readonly name: string;
  /** Undefined while it is not applied. */
  readonly appliedAt: Date | undefined;
  /** It is of a newer version of Pemba. */
  readonly isNewer: boolean;
}

/** What is told before anything is changed, with the names of the migrations. */
export interface MigrationEvents {
  /** These are applied now. */
  readonly begins?: (pending: readonly string[]) => void;
  /** A newer version of Pemba has applied these. */
  readonly newer?: (names: readonly string[]) => void;
}

/** What is there before anything is changed. */
interface Found {
  /** Of the host that takes the migrations. */
  readonly uri: string;
  /** The schema in which the connection makes its tables. */
  readonly schema: string;
  readonly role: string;
  /** The role may make and change the tables. */
  readonly mayMigrate: boolean;
  readonly states: readonly MigrationState[];
}

const directory = fileURLToPath(new URL("../../../migrations/", import.meta.url));
const placeStatement = statementFile("migrations/place.sql");
const clientCheckStatement = statementFile("migrations/client-check.sql");
const lockStatement = statementFile("migrations/lock.sql");
const settingStatement = statementFile("migrations/setting.sql");
const appliedStatement = statementFile("migrations/applied.sql");

const connectTimeoutMs = 30_000;

/**
 * Applies all migrations that are not applied yet, all or none. Waits for another instance that does
 * the same. Returns the names of those applied. Fails with UNAVAILABLE when the server cannot be
 * reached, and with MIGRATION when the role may not migrate, a migration fails, or the tables are
 * those of no release.
 */
export async function migrateUp(
  url: string,
  events: MigrationEvents = {},
): Promise<readonly string[]> {
  const found = await find(url);
  tellNewer(found.states, events);
  const pending = pendingIn(found.states);
  if (pending.length === 0) return [];
  events.begins?.(pending);
  return await migrate(found, "up", Infinity);
}

/**
 * Takes back the `count` latest migrations, all or none. Returns their names, the latest first. Fails
 * as `migrateUp` does.
 */
export async function migrateDown(url: string, count: number): Promise<readonly string[]> {
  return await migrate(await find(url), "down", count);
}

/** All migrations in their order, and since when each is applied. Fails as `migrateUp` does. */
export async function migrationStatus(url: string): Promise<readonly MigrationState[]> {
  return (await find(url)).states;
}

/** Fails with MIGRATION when there are migrations that are not applied. */
export async function refusePendingMigrations(
  url: string,
  events: MigrationEvents = {},
): Promise<void> {
  const states = await migrationStatus(url);
  tellNewer(states, events);
  const pending = pendingIn(states);
  if (pending.length === 0) return;
  throw new PembaError(
    "MIGRATION",
    `the database lacks ${listed(pending)}: run \`pemba migrate up\` or set \`database.auto_migrate\``,
  );
}

/** The names for a message. */
export function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

function tellNewer(states: readonly MigrationState[], { newer }: MigrationEvents): void {
  const names = states.filter(({ isNewer }) => isNewer).map(({ name }) => name);
  if (names.length > 0) newer?.(names);
}

function pendingIn(states: readonly MigrationState[]): readonly string[] {
  return states.filter(({ appliedAt }) => appliedAt === undefined).map(({ name }) => name);
}

async function find(url: string): Promise<Found> {
  const { first: connection } = await openRoute({
    url,
    timeoutMs: connectTimeoutMs,
    warn: () => {},
  });
  try {
    const place = must((await connection.run(placeStatement, [table]))[0], "it has one row");
    if (place["schema"] === null) {
      throw new PembaError("MIGRATION", "no schema of the connection's `search_path` exists");
    }
    const applied = booleanOf(place, "exists")
      ? await readApplied(connection)
      : new Map<string, Date>();
    const files = await readdir(directory);
    const names = files.toSorted().map((file) => basename(file, ".sql"));
    refuseUnreleased(names, [...applied.keys()]);
    const newer = [...applied.keys()].filter((name) => !names.includes(name));
    return {
      uri: connection.uri,
      schema: textOf(place, "schema"),
      role: textOf(place, "role"),
      mayMigrate: booleanOf(place, "may_migrate"),
      states: [...names, ...newer].map((name) => ({
        name,
        appliedAt: applied.get(name),
        isNewer: newer.includes(name),
      })),
    };
  } finally {
    await connection.close();
  }
}

/** Since when each migration is applied, by its name. */
async function readApplied(connection: Connection): Promise<ReadonlyMap<string, Date>> {
  const rows = await connection.run(appliedStatement);
  return new Map(rows.map((row) => [textOf(row, "name"), dateOf(row, "applied_at")]));
}

/**
 * Migrations that come after the latest one are those of a newer release, which this one can read. An
 * unknown one before that was never released: what it made is not what later migrations change.
 */
function refuseUnreleased(names: readonly string[], applied: readonly string[]): void {
  const latest = names.at(-1) ?? "";
  const unknown = applied.find((name) => name < latest && !names.includes(name));
  if (unknown === undefined) return;
  throw new PembaError(
    "MIGRATION",
    `the database has the migration \`${unknown}\`, which is of no release: use a new database`,
  );
}

async function migrate(
  { uri, schema, role, mayMigrate }: Found,
  direction: "up" | "down",
  count: number,
): Promise<readonly string[]> {
  if (!mayMigrate) {
    throw failed(
      direction,
      `the role \`${role}\` may not make and change tables in the schema \`${schema}\``,
    );
  }
  // Loaded here, because most starts find nothing to migrate.
  const { PG_MIGRATE_LOCK_ID, runner } = await import("node-pg-migrate");
  const session = await openMigrationClient(uri, connectTimeoutMs);
  try {
    await begin(session, { schema, lockId: PG_MIGRATE_LOCK_ID });
    const done = await runner({
      dbClient: session.client,
      noLock: true,
      dir: directory,
      direction,
      count,
      migrationsTable: table,
      migrationsSchema: schema,
      singleTransaction: true,
      log: () => {},
    });
    return done.map(({ name }) => name);
  } catch (error) {
    const known = storageError(session.lost() ?? error);
    if (known.code !== "INTERNAL") throw known;
    const lasting = error instanceof Error ? lastingMigration.exec(error.message)?.[1] : undefined;
    if (lasting !== undefined) throw lasts(lasting);
    throw failed(direction, error instanceof Error ? error.message : String(error), error);
  } finally {
    await session.close();
  }
}

/**
 * Begins the transaction in which the library works, and takes the lock in it. A lock of the session,
 * which the library would take, could stay on a server of a pooler that gives it to others. Names without a
 * schema are those of `schema` alone: others in the path may have functions with the same names.
 */
async function begin(
  { client, settings }: MigrationClient,
  { schema, lockId }: { readonly schema: string; readonly lockId: number },
): Promise<void> {
  await client.query("begin isolation level read committed");
  await client.query(clientCheckStatement);
  for (const [name, value] of Object.entries(settings)) {
    await client.query(settingStatement, [name, value]);
  }
  await client.query(settingStatement, ["search_path", quotedName(schema)]);
  await client.query(lockStatement, [lockId]);
}

function failed(direction: "up" | "down", reason: string, cause?: unknown): PembaError {
  return new PembaError(
    "MIGRATION",
    `migrating ${direction} failed and changed nothing: ${reason}`,
    {
      cause,
    },
  );
}

/** How the library says that a file has nothing to undo it. */
const lastingMigration = /^User has disabled down migration on file: (\S+)$/;

function lasts(name: string): PembaError {
  const message = `the migration \`${name}\` cannot be undone, since it replaced functions: to go back to the version before, restore a backup into a new database`;
  return new PembaError("MIGRATION", message);
}
