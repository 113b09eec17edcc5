import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import { runThrough } from "../../src/base/steps.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { planOf } from "../../src/plan/build.ts";
import { checkStatement } from "../../src/sql/check.ts";
import { gatherFor, plainShape } from "../../src/sql/push-down.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { gatheredFacts } from "../../src/store/postgres/questions/gathered-facts.ts";
import { fact } from "../data/dataset.ts";
import { loadFacts } from "../data/load.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { effortOf } from "../support/rows-read.ts";

const groups = 1_000;
const document = { type: "document", id: "plan" };
const group = (nth: number): { readonly type: string; readonly id: string } => ({
  type: "group",
  id: `g${nth}`,
});

let database: TestDatabase;
let client: postgres.Sql;

before(async () => {
  database = await createMigratedDatabase();
  client = postgres(database.url, { max: 1, connection: sessionSettings, onnotice: () => {} });
  const [tenant] = await client<{ number: string }[]>`
    select number::text as number from tenants where id = 't1'`;
  await loadFacts(database.url, must(tenant, "there is a first tenant").number, () => [
    ...Array.from({ length: groups }, (_, nth) => fact(document, "viewer", group(nth), "member")),
    fact(group(7), "member", { type: "user", id: "ann" }),
    fact(group(7), "member", group(0), "member"),
  ]);
  await client`analyze relationships`;
});

after(async () => {
  await client.end();
  await database.drop();
});

test("a gather reads the entities of a level together, not page by page for each of them", async () => {
  const schema = compileSchemaText(`entity user {}
    entity group { relation member @user @group#member }
    entity document { relation viewer @user @group#member }`);
  const question = { entityType: "document", permission: "viewer", subjectType: "user" };
  const asked = { ...question, subjectRelation: "", arguments: [] };
  const gather = runThrough(gatherFor(planOf(schema, asked, (field) => field)));
  const { text, params } = checkStatement([{ kind: "gather", gather }], plainShape);
  const values = params.map((name) =>
    must(
      { item_0: 0, id_0: document.id, subject_0: "ann", tenant: "t1" }[name],
      `${name} is known`,
    ),
  );
  const [row] = await client.unsafe(text, values);
  const read = runThrough(
    gatheredFacts(row?.["facts"], { type: "user", id: "ann", relation: "" }, 2 * groups),
  );
  assert.equal(read.nodes, groups + 1);
  assert.equal(read.tuples, groups + 1);
  assert.ok(read.facts.hasTuple(group(7), ["member"], { type: "user", id: "ann", relation: "" }));
  const { buffers } = await effortOf(client, text, values);
  assert.ok(buffers < groups / 2, `${buffers} pages were read`);
});
