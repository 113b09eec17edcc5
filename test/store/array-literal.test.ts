import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { Database } from "../../src/store/postgres/connect/database.ts";
import { arrayLiteral } from "../../src/store/postgres/connect/value.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { pool } from "./engines.ts";

let place: TestDatabase;
let database: Database;

before(async () => {
  place = await createTestDatabase();
  database = await Database.connect({ url: place.url, pool, warn: assert.fail });
});

after(async () => {
  await database.close();
  await place.drop();
});

async function roundTrip(values: readonly string[]): Promise<unknown> {
  const [row] = await database.query("select to_json($1::text[]) as values", [
    arrayLiteral(values),
  ]);
  return row?.["values"];
}

test("the server reads back every element of an array literal", async () => {
  const awkward = [
    "",
    "NULL",
    "null",
    "{}",
    "a,b",
    '"',
    "\\",
    '\\"',
    " a ",
    "\n",
    "\t",
    "'",
    "{a}",
  ];
  assert.deepEqual(await roundTrip(awkward), awkward);
  assert.deepEqual(await roundTrip([]), []);
});

test("the server reads back any array of texts", async () => {
  const text = fc
    .string({
      unit: fc.oneof(
        fc.constantFrom('"', "\\", ",", "{", "}", " ", "'"),
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
      ),
    })
    .filter((it) => !it.includes("\0"));
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 20 }), async (values) => {
      assert.deepEqual(await roundTrip(values), values);
    }),
    { numRuns: 200 },
  );
});
