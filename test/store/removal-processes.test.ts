/** Processes that remove the rows of deleted tenants, one at a time. */
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";

import type postgres from "postgres";

import { PembaError } from "../../src/base/error.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { type RemovalOptions, TenantRemoval } from "../../src/store/postgres/tenant-removal.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { pool } from "./engines.ts";
import { insertManyRows } from "./many-rows.ts";
import { connect, until } from "./open-write.ts";

let place: TestDatabase;
let sql: postgres.Sql;

before(async () => {
  place = await createMigratedDatabase();
  sql = connect(place.url);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await place.drop();
});

type Query = RemovalOptions["database"]["query"];

/** What one process removes, which looks all the time. Its statements go `through`. */
async function startRemoval(
  t: TestContext,
  through: (query: Query, ...statement: Parameters<Query>) => ReturnType<Query>,
  warn: (message: string) => void = () => {},
): Promise<TenantRemoval> {
  const database = await Database.connect({ url: place.url, pool, warn: () => {} });
  const query: Query = database.query.bind(database);
  const removal = new TenantRemoval({
    database: { query: async (...statement) => await through(query, ...statement) },
    warn,
    lookEveryMs: 20,
  });
  t.after(async () => {
    await removal.close();
    await database.close();
  });
  removal.start();
  return removal;
}

let tenants = 0;

/** The rows of a tenant that another process has deleted, which is gone at once. Resolves to its number. */
async function leaveRows(): Promise<string> {
  const number = String(1_000 + tenants++);
  await insertManyRows(sql, number);
  await sql`insert into removed_tenants (number) values (${number})`;
  return number;
}

async function untilGone(number: string): Promise<void> {
  await until(async () => {
    const left = await sql`
      select from removed_tenants where number = ${number}
      union all
      select from relationships where tenant = ${number}
      union all
      select from changes where tenant = ${number}`;
    return left.length === 0 ? true : undefined;
  });
}

const isRemoval = (text: string): boolean => text.includes("delete from relationships");

test("rows that another process left are removed by one that runs", async (t) => {
  await startRemoval(t, async (query, ...statement) => await query(...statement));
  await untilGone(await leaveRows());
});

test("a removal goes on after the database was away, and tells of that once", async (t) => {
  let failures = 0;
  const warnings: string[] = [];
  await startRemoval(
    t,
    async (query, ...statement) => {
      if (isRemoval(statement[0]) && failures < 2) {
        failures++;
        throw new PembaError("UNAVAILABLE", "it is away");
      }
      return await query(...statement);
    },
    (message) => warnings.push(message),
  );
  await untilGone(await leaveRows());
  assert.equal(failures, 2);
  assert.equal(warnings.length, 1);
});

test("one process at a time removes rows, and another one goes on when it gives no sign", async (t) => {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await startRemoval(t, async (query, ...statement) => {
    if (isRemoval(statement[0])) {
      begun.resolve();
      await released.promise;
    }
    return await query(...statement);
  });
  const number = await leaveRows();
  await begun.promise;
  let claims = 0;
  let removals = 0;
  await startRemoval(t, async (query, ...statement) => {
    if (statement[0].includes("set remover")) claims++;
    if (isRemoval(statement[0])) removals++;
    return await query(...statement);
  });
  await until(async () => (claims > 2 ? true : undefined));
  assert.equal(removals, 0);
  await sql`
    update removed_tenants set seen_at = now() - interval '1 minute' where number = ${number}`;
  await untilGone(number);
  assert.ok(removals > 0);
  released.resolve();
});

test("a removal walks over a table again whose rows got other places meanwhile", async (t) => {
  let isMoved = false;
  await startRemoval(t, async (query, ...statement) => {
    const rows = await query(...statement);
    if (isRemoval(statement[0]) && !isMoved) {
      isMoved = true;
      // It writes the table in the order of the index: the last rows come first.
      await sql`create index by_age on relationships (created_xid desc, entity_id desc)`;
      await sql`cluster relationships using by_age`;
      await sql`drop index by_age`;
    }
    return rows;
  });
  const number = await leaveRows();
  await untilGone(number);
  assert.ok(isMoved);
});
