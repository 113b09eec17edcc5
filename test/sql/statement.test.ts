import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";
import postgres from "postgres";

import type { Tuple } from "../../src/base/tuple.ts";
import {
  type Fragment,
  identifier,
  integer,
  literal,
  param,
  render,
  sql,
  type Statement,
} from "../../src/sql/text/fragment.ts";
import type { ParameterValue } from "../../src/store/postgres/connect/value.ts";
import { checkShape, checkValues } from "../../src/store/postgres/questions/check-values.ts";
import type { CheckQuestion } from "../../src/store/store.ts";
import { anyText } from "../support/any-text.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { plansOver } from "../support/plans.ts";
import { allStatements } from "./statement-cases.ts";

let database: TestDatabase;
let client: postgres.Sql;

before(async () => {
  database = await createTestDatabase();
  client = postgres(database.url, { max: 1 });
});

after(async () => {
  await client.end();
  await database.drop();
});

test("a literal is the text that it was made of, with all settings of the server", async () => {
  // Text of well-formed characters: others no schema can hold, and no column.
  const text = anyText().filter((one) => !one.includes("\0"));
  const special = fc
    .array(fc.constantFrom("'", "\\", "''", "\\'", "$1", "::", "--", "/*", "é", "\n"))
    .map((parts) => parts.join(""));
  for (const conforming of ["on", "off"]) {
    await client.unsafe(`set standard_conforming_strings = ${conforming}`);
    const property = fc.asyncProperty(fc.oneof(text, special), async (value) => {
      const rows = await client.unsafe(render(sql`select ${literal(value)} as value`).text);
      assert.equal(rows[0]?.["value"], value);
    });
    await fc.assert(property, { numRuns: 100 });
  }
});

test("names and numbers that are not our own making are refused", () => {
  for (const name of ["", "a b", "A", "1a", 'a"', "a;", "a-b"]) {
    assert.throws(() => identifier(name), RangeError);
  }
  for (const number of [Number.NaN, 1.5, Number.POSITIVE_INFINITY, 2 ** 60]) {
    assert.throws(() => integer(number), RangeError);
  }
});

test("a parameter that is used twice is one placeholder", () => {
  const { text, params } = render(
    sql`select ${param("b", "int")}, ${param("a", "text")}, ${param("b", "int")}`,
  );
  assert.equal(text, "select $1::int, $2::text, $1::int");
  assert.deepEqual(params, ["b", "a"]);
});

test("a template of several lines is a statement on one line", () => {
  const filter = sql`where t.a = ${param("a", "int")}`;
  const statementOf = (condition: Fragment): string =>
    render(sql`
      ${sql``}
      select count(*)
      from (
        select ${integer(1)}
        from t
        ${condition}
        offset 0
      ) x
      ${sql``}
    `).text;
  assert.equal(
    statementOf(filter),
    "select count(*) from (select 1 from t where t.a = $1::int offset 0) x",
  );
  assert.equal(statementOf(sql``), "select count(*) from (select 1 from t offset 0) x");
});

test("blanks inside a line of a template stay as they are", () => {
  assert.equal(render(sql` and a = '  '  `).text, " and a = '  '  ");
  assert.equal(render(sql`${integer(1)} ${sql``} ${integer(2)}`).text, "1  2");
});

test("every placeholder of a statement has its cast and its value's name", () => {
  for (const { name, statement } of allStatements()) {
    const { text, params } = statement;
    assert.doesNotMatch(text, /\$\d+(?!\d|::[a-z])/, name);
    const numbers = new Set([...text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])));
    assert.deepEqual(
      [...numbers].toSorted((a, b) => a - b),
      params.map((_, index) => index + 1),
      name,
    );
  }
});

const schemaText = `
entity user {}
entity group { relation member @user @group#member }
entity doc {
  relation parent @doc
  relation viewer @user @group#member
  attribute level integer
  permission view = (viewer or parent.view) and above(level)
  permission odd = viewer not parent.odd
}
rule above(level integer) { level > context.data.limit }`;

/** A question about these ids that sends them in every way that a request has. */
function questionOf(ids: readonly string[]): CheckQuestion {
  const tuples = ids.map((id): Tuple => ({
    entity: { type: "doc", id },
    relation: "viewer",
    subject: { type: "group", id: `${id}x`, relation: "member" },
  }));
  return {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 100,
    context: {
      tuples,
      attributes: ids.map((id) => ({
        entity: { type: "doc", id },
        attribute: "level",
        value: { type: "integer", data: 1 },
      })),
      data: Object.fromEntries(ids.map((id) => [id, id])),
    },
    items: ids.flatMap((id) =>
      ["view", "odd"].map((permission) => ({
        entity: { type: "doc", id },
        permission,
        subject: { type: "user", id: `${id}y`, relation: "" },
        arguments: [],
      })),
    ),
    path: (_, field) => field,
  };
}

test("no value of a request becomes text of its statement", async () => {
  const id = fc.oneof(
    fc.string({ minLength: 1, maxLength: 64 }),
    fc.constantFrom("'; drop table tenants; --", "$1", "\\", "a'b", "view", "E'\\'"),
  );
  const property = fc.asyncProperty(
    fc.uniqueArray(id, { minLength: 1, maxLength: 5 }),
    fc.nat({ max: 30_000 }),
    async (ids, depth) => {
      const question = { ...questionOf(ids), depth };
      const { statement, values } = await send(question);
      const plain = await send(questionOf(ids.map((_, nth) => `plain-${nth}`)));
      assert.equal(statement.text, plain.statement.text);
      for (const key of statement.params) assert.ok(values.has(key), key);
    },
  );
  await fc.assert(property, { numRuns: 100 });
});

/** What is sent for a question, under a schema of its own, since statements are kept by schema. */
async function send(question: CheckQuestion): Promise<{
  readonly statement: Statement;
  readonly values: ReadonlyMap<string, ParameterValue>;
}> {
  const { compiled, checks } = await plansOver(schemaText);
  const { items, path } = question;
  const groups = await checks.groupsOf({ compiled, items, path });
  const shape = checkShape(question, groups);
  const statement = checks.statementOf(compiled.compiled, groups, shape);
  const asked = { tenant: "t1", question, groups, shape };
  return {
    statement,
    values: checkValues({ ...asked, state: undefined, params: statement.params }),
  };
}
