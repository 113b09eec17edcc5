import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { must } from "../../src/base/assert.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { readInterface } from "../../src/store/postgres/sql-interface/install.ts";
import { type FormsCase, formsCaseText } from "../differential/forms-case.ts";
import { anyFormsCase } from "../differential/generate-forms.ts";
import { guardedWayFacts } from "../differential/generate-ways.ts";
import { assertNoFaults, randomRuns } from "../differential/random-run.ts";
import { pool } from "../store/engines.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";
import { type SqlPlace, sqlFaults, type Tally } from "./sql-answers.ts";

/** Settings of an application: what a planner and a reader of texts would take from them is strange. */
const hostileSettings = {
  timezone: "America/St_Johns",
  datestyle: "SQL, DMY",
  intervalstyle: "sql_standard",
  extra_float_digits: "-15",
  transform_null_equals: "on",
  array_nulls: "off",
  standard_conforming_strings: "off",
  enable_indexscan: "off",
  enable_indexonlyscan: "off",
  plan_cache_mode: "force_custom_plan",
  join_collapse_limit: "1",
  search_path: "pg_temp, public",
};

const guardedFormsCase: fc.Arbitrary<FormsCase> = fc
  .record({ facts: guardedWayFacts, turn: fc.nat({ max: 1000 }) })
  .map(({ facts: { schema, stored, data }, turn }) => ({
    schema,
    first: { ...stored, attributes: [] },
    rest: { ...stored, tuples: [] },
    later: { tuples: [], attributes: [] },
    deletedType: "folder",
    data,
    turn,
  }));

/** After so many cases the tables are analysed. */
const unanalysed = 5;

/**
 * Tests that what applications ask in SQL is answered as the oracle says, by a role without rights on
 * tables: with the settings of a new session and with strange ones, with and without statistics.
 */
export function testRandomAnswers(defaultCases: number): void {
  let scene: InterfaceScene | undefined;
  let database: Database | undefined;
  let places: readonly SqlPlace[] = [];
  const tally: Tally = new Map();
  before(async () => {
    scene = await openInterface({ questions: [] }, {}, hostileSettings);
    database = await Database.connect({ url: scene.url, pool, warn: () => {} });
    const { names } = await readInterface(scene.url, "pemba");
    const { store, app, strange } = scene;
    places = [
      { store, database, names, app },
      { store, database, names, app: strange },
    ];
  });
  after(async () => {
    await database?.close();
    await scene?.close();
  });
  let cases = 0;
  const faults = async (one: FormsCase): Promise<readonly string[]> => {
    cases += 1;
    if (cases % unanalysed === 0) await must(scene, "it is open").owner`analyze`;
    const place = must(places[cases % places.length], "there are places");
    return await sqlFaults(place, one, tally);
  };
  const text = async (one: FormsCase): Promise<string> =>
    [...(await faults(one)), formsCaseText(one)].join("\n");
  for (const run of randomRuns(defaultCases)) {
    test(`SQL is answered as the oracle says, in ${run.cases} random cases`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${run.seed}`);
      await assertNoFaults(anyFormsCase, run, { faults, text });
    });

    test(`and so it is where guards stand on the way, in ${Math.ceil(run.cases / 4)} cases`, async () => {
      const cases = Math.ceil(run.cases / 4);
      await assertNoFaults(guardedFormsCase, { ...run, cases }, { faults, text });
    });
  }

  test("every function answers yes, no and that it does not know", (t) => {
    t.diagnostic([...tally].map(([key, count]) => `${key}: ${count}`).join(", "));
    for (const name of ["may", "may_of", "visible", "visible_count", "who"]) {
      assert.ok(tally.has(`${name}: true`), name);
      assert.ok(tally.has(`${name}: false`), name);
    }
  });
}
