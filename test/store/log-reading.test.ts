/** What it takes to read the log for those who watch. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";

import postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { statementFile } from "../../src/store/postgres/connect/statement-file.ts";
import type { Store } from "../../src/store/store.ts";
import { effortOf } from "../support/rows-read.ts";
import { attribute, openPostgres, tenantWithSchema, write } from "./engines.ts";
import { beginWrite } from "./open-write.ts";

async function start(
  t: TestContext,
): Promise<{ readonly store: Store; readonly sql: postgres.Sql }> {
  const { store, url, close } = await openPostgres();
  const sql = postgres(url, { max: 2, connection: { ...sessionSettings } });
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await close();
  });
  return { store, sql };
}

async function snapshotOf(sql: postgres.Sql): Promise<string> {
  const [row] = await sql<{ text: string }[]>`select pg_current_snapshot()::text as text`;
  return row?.text ?? assert.fail();
}

async function numbersOf(sql: postgres.Sql, ids: readonly TenantId[]): Promise<readonly string[]> {
  const rows = await sql<{ number: string }[]>`
    select number::text from tenants where id = any(${[...ids]}) order by tenants.number
  `;
  return rows.map(({ number }) => number);
}

test("a poll names the tenants that changed and those that are gone, and reads nothing of others", async (t) => {
  const { store, sql } = await start(t);
  const tenants: TenantId[] = [];
  for (let count = 0; count < 30; count++) tenants.push(await tenantWithSchema(store));
  const [one, other] = tenants;
  assert.ok(one !== undefined && other !== undefined);
  const tuples = Array.from({ length: 50 }, (_, index) => `doc:${index}#owner@user:a`);
  for (const tenant of tenants) await write(store, tenant, { tuples });
  await sql`vacuum (analyze) changes`;
  const poll = statementFile("changes/poll.sql");
  // Was open when the last poll looked.
  const open = await beginWrite(sql, one, { tuples: ["doc:x#owner@user:a"] });
  const snapshot = await snapshotOf(sql);
  const numbers = await numbersOf(sql, tenants);
  const quiet = await effortOf(sql, poll, [snapshot, "{}"]);
  await open.commit();
  await write(store, one, { tuples: ["doc:y#owner@user:a"] });
  await store.tenants.delete(other);
  const changed = await effortOf(sql, poll, [snapshot, "{}"]);
  // A row for each of two transactions: the rest of the log costs nothing.
  assert.ok(changed.rows - quiet.rows <= 2, `${quiet.rows} rows, then ${changed.rows}`);
  const [found] = await sql.unsafe(poll, [snapshot, `{${numbers.join(",")}}`]);
  assert.deepEqual(found?.["changed"], [numbers[0]]);
  assert.deepEqual(found?.["gone"], [numbers[1]]);
});

test("a page of large values reads those that it returns, however many follow", async (t) => {
  const { store, sql } = await start(t);
  const tenant = await tenantWithSchema(store);
  const [number] = await numbersOf(sql, [tenant]);
  assert.ok(number !== undefined);
  const values = [number, "{3}", "{9223372036854775807}", 0, -1, 1_000, 1024 * 1024, 100];
  const page = statementFile("changes/page.sql");
  const efforts: number[] = [];
  for (let count = 1; count <= 12; count++) {
    // What does not compress is spread over pages of its own.
    const text = randomBytes(400_000).toString("base64");
    const tags = attribute("tags", { type: "string[]", data: [text] }, String(count));
    await write(store, tenant, { attributes: [tags] });
    if (count % 6 === 0) {
      assert.equal((await sql.unsafe(page, values)).length, 1);
      efforts.push((await effortOf(sql, page, values)).buffers);
    }
  }
  const [few = 0, many = 0] = efforts;
  assert.ok(many < few + 50, `${few} buffers, then ${many}`);
});
