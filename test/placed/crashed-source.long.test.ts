/** The server of the source is killed while a tenant leaves it, and gives out ids of transactions again. */
import assert from "node:assert/strict";
import { test } from "node:test";

import type postgres from "postgres";

import type { MoveDatabase } from "../../src/store/placed/move/notes.ts";
import { migrateUp } from "../../src/store/postgres/migrate.ts";
import { allowed, openStore, pool, tenantWithSchema, write } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { openMover } from "../support/moves.ts";
import { openPlacedOver } from "../support/placed-databases.ts";
import { startRestartablePostgres } from "../support/postgres-binaries.ts";
import { eventually } from "./within.ts";

const settings = ["fsync=off", "autovacuum=off"];

/** The first note says where the copy begins, the second one what the first round has followed. */
const notesBeforeDeath = 2;

class Killed extends Error {}

/** Takes ids of which nothing comes to disk. */
async function useUpIds(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`
    do $$ begin
      for number in 1..20 loop perform pg_current_xact_id(); rollback; end loop;
    end $$
  `);
}

/** The id that comes next. */
async function nextId(sql: postgres.Sql): Promise<bigint> {
  const [row] = await sql<{ xid: string }[]>`
    select pg_snapshot_xmax(pg_current_snapshot())::text as xid`;
  return BigInt(row?.xid ?? assert.fail("no row"));
}

test("a move goes on when the source has lost ids in a crash, and gives them out again", async (t) => {
  const directory = await createMigratedDatabase();
  const server = await startRestartablePostgres(settings, "own");
  await server.holdLog();
  await migrateUp(server.url);
  const urls = [directory.url, server.url];
  const store = await openPlacedOver(urls, { pool }, async (url, tokens) => openStore(url, tokens));
  const mover = await openMover(urls);
  const sql = connect(server.url, 1);
  t.after(async () => {
    await sql.end({ timeout: 1 });
    await mover.close();
    await store.close();
    await server.stop();
    await directory.drop();
  });
  // Each commit brings the ids before it to disk, and the store removes the tenant that the first migration makes.
  await eventually("nothing is left to be removed", async () => {
    const removed = await sql`select from removed_tenants`;
    return removed.length === 0 ? true : undefined;
  });
  const tenant = await tenantWithSchema(store, "b");
  await write(store, tenant, { tuples: ["doc:1#owner@user:ann"] });

  let notes = 0;
  const through = (database: MoveDatabase, cluster: string): MoveDatabase => ({
    query: async (text, values) => {
      if (cluster === "b") await useUpIds(sql);
      const rows = await database.query(text, values);
      if (text.includes("set progress =") && ++notes === notesBeforeDeath) throw new Killed();
      return rows;
    },
  });
  await assert.rejects(mover.run({ tenant, to: "a", through }), Killed);
  const end = await nextId(sql);
  await server.signal("SIGKILL", "all");
  await server.halt();
  await server.restart();
  const begun = await eventually("the server answers", async () => {
    return await nextId(sql).catch(() => undefined);
  });
  assert.ok(begun < end, "no id was given out again");

  await eventually("a write", async () => {
    const writing = write(store, tenant, { tuples: ["doc:2#owner@user:ann"] });
    return await writing.then(() => true).catch(() => undefined);
  });
  assert.ok((await nextId(sql)) <= end, "the write got an id that was not lost");
  const events = await mover.run({ tenant, to: "a", leaseMs: 0 });
  assert.equal(events.at(-1)?.kind, "switched");
  for (const id of ["1", "2"]) {
    assert.equal(await allowed(store, tenant, { id, permission: "owner", subject: "ann" }), true);
  }
});
