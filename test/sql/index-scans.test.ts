import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import { compileSchemaText } from "../../src/language/compile.ts";
import { planOf } from "../../src/plan/build.ts";
import { checkStatement } from "../../src/sql/check.ts";
import { plainShape, askedAlone, pushDownShared } from "../../src/sql/push-down.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { loadFacts } from "../data/load.ts";
import { nestedDocumentsSchema, nestedFacts, tinySizes } from "../data/nested-documents.ts";
import { socialSchema } from "../data/social.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { scansOf, unboundScans } from "../support/query-plan.ts";
import { isLong } from "../support/run-length.ts";
import { allStatements, type StatementCase, statementCases } from "./statement-cases.ts";

/*
 * The promise behind every figure of latency: with any statistics (a fresh table has none), a
 * statement reaches each table by an index whose first two columns are bound, so that its cost
 * follows what a question touches and not what is stored.
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

const benchmarks: readonly StatementCase[] = [
  [nestedDocumentsSchema, "document"],
  [socialSchema, "interaction"],
].flatMap(([text = "", entityType = ""]) => {
  const schema = compileSchemaText(text);
  const question = {
    entityType,
    permission: "view",
    subjectType: "user",
    subjectRelation: "",
    arguments: [],
  };
  const plan = planOf(schema, question, (field) => field);
  const { body } = askedAlone(plan);
  const shared = (["subject", "entity"] as const).flatMap((common) => {
    const pushed = plan.kind === "search" ? pushDownShared(common, plan, schema) : undefined;
    return pushed === undefined ? [] : [{ common, body: pushed.body }];
  });
  const bulk = { ...plainShape, bulk: true };
  return [
    ...[plainShape, { ...plainShape, bulk: true }, { ...plainShape, pinned: true }].map(
      (shape) => ({
        name: `${entityType}#view ${JSON.stringify(shape)}`,
        statement: checkStatement([body], shape),
      }),
    ),
    ...shared.flatMap(({ common, body: together }) =>
      [bulk, { ...bulk, pinned: true }].map((shape) => ({
        name: `${entityType}#view of a ${common} ${JSON.stringify(shape)}`,
        statement: checkStatement([together], shape),
      })),
    ),
  ];
});

async function assertBound(statements: readonly StatementCase[]): Promise<void> {
  for (const { name, statement } of statements) {
    const scans = await scansOf(client, statement.text);
    assert.ok(scans.length > 0, name);
    assert.deepEqual(unboundScans(scans), [], name);
  }
}

test("every scan of every statement is bound by its index while the tables are empty", async () => {
  // A short run has a part of each kind: neighbours differ in one thing.
  const all = allStatements().filter((_, index) => isLong || index % 4 === 0);
  await assertBound([...all, ...statementCases, ...benchmarks]);
});

test("every scan is bound by its index when the tables are known to be empty", async () => {
  await client`analyze`;
  await assertBound([...statementCases, ...benchmarks]);
});

test("every scan is bound by its index when the tables are full and the log is known to be empty", async () => {
  const [tenant] = await client<{ number: string }[]>`
    select number::text as number from tenants where id = 't1'`;
  await loadFacts(database.url, tenant?.number ?? "", () => nestedFacts(tinySizes));
  await client`analyze`;
  await assertBound([...statementCases, ...benchmarks]);
});

test("a scan without the first columns of its index is found out", async () => {
  for (const condition of ["r.relation = $1::text", "r.entity_id = $1::text", "$1::text = 'a'"]) {
    const scans = await scansOf(client, `select 1 from relationships r where ${condition}`);
    assert.equal(unboundScans(scans).length, 1, condition);
  }
});
