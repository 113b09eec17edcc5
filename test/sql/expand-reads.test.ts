import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import { runThrough } from "../../src/base/steps.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { planOf } from "../../src/plan/build.ts";
import { unrestricted } from "../../src/plan/passes/2-restrict.ts";
import { collapse } from "../../src/plan/passes/6-collapse.ts";
import { checkStatement } from "../../src/sql/check.ts";
import { expandGatherOf } from "../../src/sql/gather/gather.ts";
import { plainShape } from "../../src/sql/push-down.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { gatheredFacts } from "../../src/store/postgres/questions/gathered-facts.ts";
import { fact } from "../data/dataset.ts";
import { loadFacts } from "../data/load.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { effortOf } from "../support/rows-read.ts";

const size = 5_000;
const group = { type: "group", id: "all" };

let database: TestDatabase;
let client: postgres.Sql;

before(async () => {
  database = await createMigratedDatabase();
  client = postgres(database.url, { max: 1, connection: sessionSettings, onnotice: () => {} });
  const [tenant] = await client<{ number: string }[]>`
    select number::text as number from tenants where id = 't1'`;
  await loadFacts(database.url, must(tenant, "there is a first tenant").number, () =>
    Array.from({ length: size }, (_, index) =>
      fact(group, "member", { type: "user", id: `u${index}` }),
    ),
  );
});

after(async () => {
  await client.end();
  await database.drop();
});

test("the facts of an expand are read up to the first tuple that is too many", async () => {
  const { tuples, rows } = await read(10);
  assert.equal(tuples, 11);
  assert.ok(rows < 100, `${rows} rows were read`);
});

test("the facts of an expand that are not too many are all read", async () => {
  assert.equal((await read(size)).tuples, size);
});

/** Reads the facts for an expand of the group with the limit: how many tuples, from how many rows. */
async function read(
  tuplesMax: number,
): Promise<{ readonly tuples: number; readonly rows: number }> {
  const schema = compileSchemaText(
    "entity user {} entity group { relation member @user @group#member }",
  );
  const question = {
    entityType: "group",
    permission: "member",
    subjectType: "group",
    subjectRelation: "",
    arguments: [],
  };
  const { network, root } = planOf(schema, question, (field) => field);
  const all = unrestricted(network.network, question);
  const gather = expandGatherOf(runThrough(collapse(all, [root])));
  const { text, params } = checkStatement(
    [{ kind: "gather", gather: { ...gather, tuplesMax } }],
    plainShape,
  );
  const values = new Map<string, string | number>([
    ["tenant", "t1"],
    ["item_0", 0],
    ["id_0", group.id],
    ["subject_0", group.id],
  ]);
  const given = params.map((key) => must(values.get(key), `${key} has a value`));
  const rows = await client.unsafe(text, given);
  const pieces = rows.map(({ facts }): unknown => facts);
  const { tuples } = runThrough(gatheredFacts(pieces, undefined, tuplesMax));
  return { tuples, rows: (await effortOf(client, text, given)).rows };
}
