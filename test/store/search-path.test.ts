/** Schemas of applications that come before that of Pemba's tables in the search path. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { onDatabase } from "../../src/store/postgres/connect/on-database.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { allowed, openStore, pool, tenantWithSchema, write } from "./engines.ts";
import { connect } from "./open-write.ts";

/** Tables that an application may have, by names that Pemba has, too. */
const tables = ["tenants", "relationships", "attributes", "changes", "installation"];

for (const [how, query] of [
  ["the parameter of the URI", "search_path=app,public"],
  ["options of the URI", `options=${encodeURIComponent("-c search_path=app,public")}`],
] as const) {
  test(`tables of an application are not taken for Pemba's, with the path from ${how}`, async () => {
    const place = await createMigratedDatabase();
    const sql = connect(place.url, 1);
    const url = `${place.url}?${query}`;
    // The application comes while Pemba runs, and is there when it starts again.
    const running = await openStore(url, { pool: { ...pool, maxConnections: 2 } });
    try {
      const tenant = await tenantWithSchema(running);
      await sql.unsafe(
        `create schema app; ${tables.map((table) => `create table app.${table} (id text);`).join("")}`,
      );
      const started = await openStore(url);
      for (const store of [running, started]) {
        await write(store, tenant, { tuples: ["doc:1#owner@user:ann"] });
        const asked = { id: "1", permission: "view", subject: "ann" };
        assert.equal(await allowed(store, tenant, asked), true);
        const created = await tenantWithSchema(store);
        await store.tenants.delete(created);
      }
      await started.close();
    } finally {
      await running.close();
      await sql.end({ timeout: 1 });
      await place.drop();
    }
  });
}

test("names of an application are found behind those of Pemba", async () => {
  const place = await createMigratedDatabase();
  const sql = connect(place.url, 1);
  try {
    await sql.unsafe("create schema app; create table app.documents (id text)");
    const [row] = await onDatabase(`${place.url}?search_path=app,public`, async (database) =>
      database.query("select to_regclass('documents')::oid is not null as is_found", []),
    );
    assert.equal(row?.["is_found"], true);
  } finally {
    await sql.end({ timeout: 1 });
    await place.drop();
  }
});
