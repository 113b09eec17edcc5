import type { Database } from "./database.ts";
import type { Person } from "./document.ts";

/** How many users the page of the sign-in lists. */
const listedAtMost = 200;

export async function readUsers(database: Database): Promise<readonly Person[]> {
  return await database.askForNoUser(
    (sql) => sql<Person[]>`select id, name from app.users order by name, id limit ${listedAtMost}`,
  );
}

export async function isUser(database: Database, id: string): Promise<boolean> {
  const rows = await database.askForNoUser(
    (sql) => sql<Person[]>`select id, name from app.users where id = ${id}`,
  );
  return rows.length > 0;
}
