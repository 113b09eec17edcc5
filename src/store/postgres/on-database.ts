import { Database } from "./database.ts";

/** Runs one piece of work on a connection of its own. Fails as connecting does, and as the work. */
export async function onDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await Database.connect({
    url,
    pool: { maxConnections: 1, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 30_000 },
    // What slows a server down does not matter to one piece of work.
    warn: () => {},
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
