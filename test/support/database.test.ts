import assert from "node:assert/strict";
import { test } from "node:test";

import postgres from "postgres";

import { createTestDatabase } from "./database.ts";

test("each test database is new, empty and gone after its drop", async () => {
  const first = await createTestDatabase();
  const second = await createTestDatabase();
  const sql = postgres(first.url, { max: 1 });
  await sql`create table mark ()`;
  const other = postgres(second.url, { max: 1 });
  assert.deepEqual([...(await other`select relname from pg_class where relname = 'mark'`)], []);
  await Promise.all([sql.end(), other.end()]);
  await Promise.all([first.drop(), second.drop()]);
  const gone = postgres(first.url, { max: 1 });
  await assert.rejects(gone`select 1`, { code: "3D000" });
  await gone.end();
});
