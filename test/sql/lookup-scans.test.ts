import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { loadFacts } from "../data/load.ts";
import { nestedFacts, tinySizes } from "../data/nested-documents.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { scansOf, unboundScans } from "../support/query-plan.ts";
import { isLong } from "../support/run-length.ts";
import { allLookups, lookupCases } from "./lookup-cases.ts";

/*
 * A page of a lookup must not cost what is stored: like a check, it reaches each table by an index
 * whose first columns are equal to a value. This holds for any statistics.
 */

let database: TestDatabase;
let client: postgres.Sql;

before(async () => {
  database = await createMigratedDatabase();
  client = postgres(database.url, { max: 1, connection: sessionSettings, onnotice: () => {} });
});

after(async () => {
  await client.end();
  await database.drop();
});

/** Where all that is known of a type is asked for, its ids are read in their order, from the place on. */
function readsKnownIds(statement: string, condition: string): boolean {
  const isAsked = statement.includes("select distinct r.entity_id as id");
  return isAsked && /^\(\((entity|subject)_id > /.test(condition);
}

/** The last durable id is at the end of the log: one row is read. */
const readsDurableId = "(xid >= noted.xid)";

async function assertBound(statements: Awaited<ReturnType<typeof allLookups>>): Promise<void> {
  const unbound = new Map<string, string>();
  for (const { name, statement } of statements) {
    const scans = await scansOf(client, statement.text);
    assert.ok(scans.length > 0, name);
    for (const { node, index, condition } of unboundScans(scans)) {
      if (readsKnownIds(statement.text, condition) || condition === readsDurableId) continue;
      unbound.set(`${node} ${index} ${condition.replaceAll(/\b\w+_\d+\.id|\$\d+/g, "...")}`, name);
    }
  }
  assert.deepEqual([...unbound], []);
}

test("every scan of every lookup is bound by its index while the tables are empty", async () => {
  // A short run has a part of each kind: neighbours differ in one thing.
  const all = (await allLookups()).filter((_, index) => isLong || index % 4 === 0);
  await assertBound([...all, ...lookupCases]);
});

test("every scan of a lookup is bound by its index when the tables are known to be empty", async () => {
  await client`analyze`;
  await assertBound(isLong ? [...(await allLookups()), ...lookupCases] : lookupCases);
});

test("every scan of a lookup is bound by its index when the tables are full and the log is known to be empty", async () => {
  const [tenant] = await client<{ number: string }[]>`
    select number::text as number from tenants where id = 't1'`;
  await loadFacts(database.url, tenant?.number ?? "", () => nestedFacts(tinySizes));
  await client`analyze`;
  await assertBound(lookupCases);
});
