import { Database } from "./database.ts";

/**
 * Runs one piece of work on a connection of its own, which may take so long to make (in
 * milliseconds). Fails as connecting does, and as the work.
 */
export async function onDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
  connectTimeoutMs = 30_000,
): Promise<T> {
  const database = await Database.connect({
    url,
    pool: { maxConnections: 1, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs },
    // What slows a server down does not matter to one piece of work.
    warn: () => {},
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
