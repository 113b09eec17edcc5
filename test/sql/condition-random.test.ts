import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";
import postgres from "postgres";

import { compileCondition } from "../../src/condition/compile.ts";
import type { Condition, ConditionInput } from "../../src/condition/condition.ts";
import { sql } from "../../src/sql/text/fragment.ts";
import { statementFile } from "../../src/store/postgres/connect/statement-file.ts";
import { filled } from "../../src/store/postgres/sql-interface/interface-names.ts";
import {
  type DataForm,
  evaluateConstants,
  evaluateRows,
  explainTranslation,
} from "../support/condition-database.ts";
import { randomText } from "../support/condition-texts.ts";
import { randomInput, randomParameters } from "../support/condition-values.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";
import { respelledJson } from "../support/number-texts.ts";
import { caseCount, seed } from "../support/run-length.ts";

/*
 * Random rules over random values: the evaluator and Postgres agree on each, a fault being NULL. In rows the
 * data of a context are spelled as applications may that ask in SQL, in constants as the service does. PEMBA_SEED
 * repeats a run.
 */

const runs = caseCount({ short: 300, long: 5_000 });

/** As an application gives them, and plan functions read them. */
const givenData: DataForm = {
  textOf: respelledJson,
  read: (text) => sql`plans.rounded_json(${text})`,
};

let testDatabase: TestDatabase;
let database: postgres.Sql;

before(async () => {
  testDatabase = await createTestDatabase();
  database = postgres(testDatabase.url, { max: 1, onnotice: () => {} });
  await database`create schema plans`;
  await database.unsafe(filled(statementFile("interface/rounded-json.sql"), { plans: "plans" }));
});

after(async () => {
  await database.end();
  await testDatabase.drop();
});

test(`evaluation and SQL agree on random rules (seed ${seed})`, async () => {
  await agree(seed, runs);
});

test("random rules are no monoculture: most have SQL, and both truths and faults are common", async () => {
  // The shares move with the seed, so they are held for one.
  const fixedRuns = 300;
  const counts = await agree(1, fixedRuns);
  assert.ok(counts.translated > fixedRuns * 0.6, `only ${counts.translated} have SQL`);
  assert.ok(counts.truths > fixedRuns && counts.faults > fixedRuns / 4, JSON.stringify(counts));
});

interface Counts {
  translated: number;
  truths: number;
  faults: number;
}

/** Compares random rules, and counts what came up. */
async function agree(startSeed: number, numRuns: number): Promise<Counts> {
  const counts: Counts = { translated: 0, truths: 0, faults: 0 };
  const inputs = fc.array(randomInput, { minLength: 8, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(randomText, inputs, async (text, values) => {
      const compiled = compileCondition(text, randomParameters);
      assert.ok(compiled.ok, compiled.ok ? "" : `${text}: ${compiled.message}`);
      const { condition } = compiled;
      const rows = await evaluateRows(database, condition, values, givenData);
      if (rows === undefined) return;
      counts.translated += 1;
      for (const [index, input] of values.entries()) {
        const expected = evaluated(condition, input);
        counts.truths += Number(expected === true);
        counts.faults += Number(expected === null);
        assertSame(condition, input, rows[index], expected);
      }
      const [first] = values;
      assert.ok(first !== undefined);
      const constant = await evaluateConstants(database, condition, first);
      assertSame(condition, first, constant, evaluated(condition, first));
    }),
    { seed: startSeed, numRuns },
  );
  return counts;
}

function evaluated(condition: Condition, input: ConditionInput): boolean | null {
  const verdict = evaluateCondition(condition, input);
  return verdict.kind === "value" ? verdict.value : null;
}

function assertSame(
  condition: Condition,
  input: ConditionInput,
  actual: boolean | null | undefined,
  expected: boolean | null,
): void {
  if (actual === expected) return;
  const values = JSON.stringify(
    [...input.parameters.values()].map(({ data }) => data),
    (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value),
  );
  assert.fail(
    `${condition.text}\ngives ${expected}, in SQL ${actual}\nparameters ${values}\ndata ${respelledJson(input.data)}\nSQL ${explainTranslation(condition)}`,
  );
}
