import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";
import { Type } from "typebox";
import { Parse } from "typebox/schema";

import { type PageShape, pageStatement } from "../../src/sql/state/page.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { scansOf } from "../support/query-plan.ts";

/*
 * No filter that names an entity id or a subject id reads a table or an index from end to end.
 * This holds for any statistics; here there are none. Reads are planned. Deletes are planned inside
 * functions, so what they touch is counted, against tables of many times as many blocks.
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

/** Whether anything of the tenant changed after a snapshot, by its bound and by its open ids. */
// Servers before 17 name what comes from outside by its number.
const probeOfChange = /\(tenant = (t\.number|\$\d+)\) AND \(xid (>=|=) /;

/** The last durable id: the end of the log from the last note on, and that note. */
const probeOfDurableId =
  /^\(xid >= noted\.xid\)$|^\(\(system_identifier = .*\) AND \(database_oid = /;

const tupleColumns = ["entity_type", "relation", "subject_type", "subject_relation"];
const sources = [
  { source: "tuples_by_entity", equal: tupleColumns, among: ["subject_id"], first: "entity_id" },
  { source: "tuples_by_subject", equal: tupleColumns, among: [], first: "subject_id" },
  { source: "attributes", equal: ["entity_type"], among: ["attribute"], first: "entity_id" },
] as const;

test("a page of named ids is read through the index that begins with them", async () => {
  for (const { source, first, ...columns } of sources) {
    for (const pinned of [false, true]) {
      for (const isBehind of [false, true]) {
        for (const isNarrow of [false, true]) {
          const shape: PageShape = {
            source,
            pinned,
            after: isBehind,
            byIds: true,
            equal: isNarrow ? columns.equal : [],
            among: isNarrow ? columns.among : [],
          };
          const scans = await scansOf(client, pageStatement(shape).text);
          const ofData = scans.filter(({ condition, table }) => {
            const isProbe = probeOfChange.test(condition) || probeOfDurableId.test(condition);
            return !isProbe && ["relationships", "attributes", "changes"].includes(table);
          });
          assert.equal(ofData.length, pinned ? 2 : 1);
          for (const { node, condition } of ofData) {
            assert.match(node, /^Index/, JSON.stringify(shape));
            assert.match(condition, new RegExp(String.raw`\(${first} = w\.id\)`));
          }
        }
      }
    }
  }
});

test("a page without ids is read in the order of an index, without a sort of all", async () => {
  for (const { source } of sources) {
    for (const pinned of [false, true]) {
      const shape = { source, pinned, after: true, byIds: false, equal: [], among: [] };
      const scans = await scansOf(client, pageStatement(shape).text);
      for (const { node, table, condition } of scans) {
        if (table === "tenants" || table === "installation") continue;
        assert.match(node, /^Index/);
        const isProbe = probeOfChange.test(condition) || probeOfDurableId.test(condition);
        assert.ok(condition.includes("ROW(") || isProbe, condition);
      }
    }
  }
});

const Explained = Type.Array(
  Type.Object({
    Plan: Type.Object({
      "Shared Hit Blocks": Type.Number(),
      "Shared Read Blocks": Type.Number(),
    }),
  }),
);

/** The blocks that a delete touches. */
async function blocksOf(filters: string): Promise<number> {
  const rows = await client.unsafe(
    `explain (analyze, buffers, format json) select * from delete_data('t1', ${filters})`,
  );
  const [explained] = Parse(Explained, rows[0]?.["QUERY PLAN"]);
  assert.ok(explained !== undefined);
  return explained.Plan["Shared Hit Blocks"] + explained.Plan["Shared Read Blocks"];
}

test("a delete of named ids touches a few blocks of thousands", async () => {
  await client.unsafe(`
    insert into relationships
    select 1, 'doc', 'd' || (i / 5), 'viewer', 'user', 'u' || (i % 20000), '', '5'
    from generate_series(1, 100000) as i`);
  await client.unsafe(`
    insert into attributes
    select 1, 'doc', 'd' || i, 'public', 'boolean', 'true', '5'
    from generate_series(1, 50000) as i`);
  const nothing = "'', '{}', ''";
  const noTuples = `false, ${nothing}, '', '{}', ''`;
  const noAttributes = "false, '', '{}', '{}'";
  // The first call of a connection reads the catalog.
  await blocksOf(`true, ${nothing}, '', '{none}', '', true, '', '{none}', '{}'`);
  const cases = [
    `true, '', '{d1}', '', '', '{}', '', ${noAttributes}`,
    `true, 'doc', '{d2}', 'viewer', '', '{}', '', ${noAttributes}`,
    `true, 'doc', '{d3}', 'viewer', 'user', '{u16}', '', ${noAttributes}`,
    `true, '', '{d4,d5,d6}', '', '', '{}', '', ${noAttributes}`,
    `true, ${nothing}, '', '{u5}', '', ${noAttributes}`,
    `true, ${nothing}, 'user', '{u6,u7}', '', ${noAttributes}`,
    `true, '', '{d8}', '', '', '{u41,u42}', '', ${noAttributes}`,
    `${noTuples}, true, '', '{d1}', '{}'`,
    `${noTuples}, true, 'doc', '{d2,d3}', '{public}'`,
  ];
  for (const filters of cases) {
    const blocks = await blocksOf(filters);
    assert.ok(blocks < 400, `${blocks} blocks: ${filters}`);
  }
  const [counted] = await client`
    select pg_relation_size('relationships_by_entity') / current_setting('block_size')::integer
      + pg_relation_size('attributes_by_entity') / current_setting('block_size')::integer as blocks,
      (select count(*)::integer from changes) as deleted`;
  assert.ok(Number(counted?.["blocks"]) > 1_000, "the indexes are large beside what was touched");
  // A document has five tuples, a user too: of three of them one was gone before.
  assert.equal(counted?.["deleted"], 5 + 5 + 1 + 15 + 4 + 8 + 2 + 1 + 2);
});
