import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import { catalogText } from "../support/catalog-text.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { connect } from "./open-write.ts";

/*
 * What the migrations make, as it is reviewed. After a change that is meant:
 *
 *   npm run test:only -- --test-update-snapshots test/store/schema.test.ts
 */

const root = join(import.meta.dirname, "../..");
const golden = join(root, "test/golden");
const migrations = join(root, "migrations");

let place: TestDatabase;
let sql: postgres.Sql;

before(async () => {
  place = await createMigratedDatabase();
  sql = connect(place.url, 1);
});

after(async () => {
  await sql.end({ timeout: 1 });
  await place.drop();
});

test("migrations make the schema that was reviewed", async (t) => {
  t.assert.fileSnapshot(await catalogText(sql), join(golden, "schema.sql"), {
    serializers: [String],
  });
});

test("the reviewed schema shows a change of each kind", async () => {
  const reviewed = await catalogText(sql);
  for (const change of [
    "alter table attributes set (fillfactor = 70)",
    "alter table bundles alter column payload set statistics 10",
    "alter table bundles alter column payload set storage external",
    "alter table bundles alter column created_at drop default",
    "alter table bundles add check (name <> '')",
    "drop index changes_by_xid",
    "create index on bundles (created_at)",
    "grant select on bundles to public",
    "grant execute on function text_array to public",
    "alter function text_array volatile",
    "alter function text_array set work_mem = '1MB'",
    "comment on table bundles is 'named changes'",
    "create view names as select name from bundles",
    "create type pair as (one integer)",
    "create domain small as integer",
    "create sequence counter",
  ]) {
    await sql
      .begin(async (inside) => {
        await inside.unsafe(change);
        assert.notEqual(await catalogText(inside), reviewed, change);
        throw new Error("undone");
      })
      .catch((error: Error) => {
        if (error.message !== "undone") throw error;
      });
  }
  assert.equal(await catalogText(sql), reviewed);
});

test("no function is for every role", async () => {
  const open = await sql`
    select proname from pg_proc
    where pronamespace = 'public'::regnamespace and has_function_privilege('public', oid, 'execute')
  `;
  assert.deepEqual([...open], []);
});

/*
 * A database that has a migration never runs it again, so one that a release has does not change. Until
 * the first release the line of a changed file may be replaced; from then on lines are only added.
 */
test("migrations stay as they are, and new ones come after them", () => {
  const written = readFileSync(join(golden, "migrations.sha256"), "utf8");
  const lines = readdirSync(migrations)
    .toSorted()
    .map((name) => {
      const digest = createHash("sha256").update(readFileSync(join(migrations, name)));
      return `${digest.digest("hex")}  ${name}\n`;
    });
  assert.equal(lines.join(""), written, "see docs/decisions/0015-migrations.md");
});

test("migrations are numbered without gaps", () => {
  for (const [index, name] of readdirSync(migrations).toSorted().entries()) {
    assert.match(name, new RegExp(`^${String(index + 1).padStart(4, "0")}_[a-z_]+\\.sql$`));
  }
});
