import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { planOf } from "../../src/plan/build.ts";
import { checkStatement } from "../../src/sql/check.ts";
import { plainShape, askedAlone } from "../../src/sql/push-down.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { fact } from "../data/dataset.ts";
import { loadFacts } from "../data/load.ts";
import { nestedDocumentsSchema } from "../data/nested-documents.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";

/*
 * A search is cheap because what comes after the row that decides is never read. Nothing in an
 * answer shows that, so it is read off the plan as it ran.
 */

const user = (id: string) => ({ type: "user", id });
const team = { type: "group", id: "team" };
const plan = { type: "document", id: "plan" };
const folder = { type: "folder", id: "folder" };
const secret = { type: "document", id: "secret" };

const facts = [
  fact(team, "member", user("ada")),
  fact(team, "member", user("eve")),
  fact(plan, "owner", user("ada")),
  fact(plan, "parent", folder),
  fact(folder, "viewer", team, "member"),
  fact(secret, "owner", user("ada")),
  fact(secret, "parent", folder),
  fact(secret, "banned", team, "member"),
];

let database: TestDatabase;
let client: postgres.Sql;

before(async () => {
  database = await createMigratedDatabase();
  client = postgres(database.url, { max: 1, connection: sessionSettings, onnotice: () => {} });
  const [tenant] = await client<{ number: string }[]>`
    select number::text as number from tenants where id = 't1'`;
  await loadFacts(database.url, must(tenant, "there is a first tenant").number, () => facts);
});

after(async () => {
  await client.end();
  await database.drop();
});

test("a direct tuple at the entity is found without a further hop, and without the subject's groups", async () => {
  // The row of `banned`, and that of the document.
  assert.deepEqual(await rowsRead("plan", "ada"), { search: 2, closure: 0 });
});

test("a group on the path is found without what comes after it", async () => {
  // `banned`, the document, the folder, and the group of its viewers.
  assert.deepEqual(await rowsRead("plan", "eve"), { search: 4, closure: 1 });
});

test("a banned group ends the search where it is found", async () => {
  // `banned`, the document, and the group that is banned.
  assert.deepEqual(await rowsRead("secret", "ada"), { search: 3, closure: 1 });
});

/** How many rows of its tables a check of `view` of the document read. */
async function rowsRead(
  document: string,
  subject: string,
): Promise<{ readonly search: number; readonly closure: number }> {
  const schema = compileSchemaText(nestedDocumentsSchema);
  const question = {
    entityType: "document",
    permission: "view",
    subjectType: "user",
    subjectRelation: "",
    arguments: [],
  };
  const { body } = askedAlone(planOf(schema, question, (field) => field));
  const { text, params } = checkStatement([body], plainShape);
  const values = new Map<string, string | number>([
    ["tenant", "t1"],
    ["depth", 100],
    ["item_0", 0],
    ["id_0", document],
    ["subject_0", subject],
  ]);
  const lines = await client.unsafe<{ "QUERY PLAN": string }[]>(
    `explain (analyze, costs off, timing off, summary off) ${text}`,
    params.map((key) => must(values.get(key), `${key} has a value`)),
  );
  const rowsOf = (table: string): number => {
    const named = lines.findIndex((line) => line["QUERY PLAN"].trim() === `CTE ${table}`);
    const node = must(lines[named + 1], "a table is a node")["QUERY PLAN"];
    assert.match(node, /Recursive Union/);
    return node.includes("never executed") ? 0 : Number(/rows=(\d+)/.exec(node)?.[1]);
  };
  return { search: rowsOf("search0"), closure: rowsOf("closure") };
}
