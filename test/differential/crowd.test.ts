import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { disagreements } from "./agreement.ts";
import { type Case, caseText } from "./case.ts";
import { type Crowd, crowded } from "./crowd.ts";
import { type Engines, startEngines } from "./engines.ts";
import { anyCrowd, caseWithUsersets } from "./generate-crowd.ts";

/*
 * A search from the subject's end stops after a hundred usersets, which random data never reach.
 * Here every subject stands in about that many more, or in more than that, so that what the search
 * has not found proves nothing and everything must be found from the entity's end as well.
 * PEMBA_SEED repeats a run, PEMBA_CROWDS makes it longer or shorter.
 */

const seed = Number(process.env["PEMBA_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const cases = Number(process.env["PEMBA_CROWDS"] ?? 80);
const itemsAsked = 7;
const shrinkMs = 60_000;

let engines: Engines;

before(async () => {
  engines = await startEngines();
});

after(() => engines.stop());

test(`oracle, memory and Postgres agree on subjects in a crowd of usersets, ${cases} random cases`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const property = fc.asyncProperty(caseWithUsersets, anyCrowd, async (one, crowd) => {
    const found = await disagreements(engines, crowded(one, crowd), itemsAsked);
    return found.length === 0;
  });
  const report = await fc.check(property, { seed, numRuns: cases, endOnFailure: true });
  if (!report.failed) return;
  const shrunk = await fc.check(property, {
    seed,
    path: report.counterexamplePath ?? "",
    interruptAfterTimeLimit: shrinkMs,
  });
  const [one, crowd] = shrunk.counterexample ?? report.counterexample ?? [];
  assert.ok(one !== undefined && crowd !== undefined, String(report.errorInstance));
  assert.fail(`PEMBA_SEED=${seed}\n${await failureText(one, crowd)}`);
});

/** The case without its crowd, which is too long to read and follows from a line. */
async function failureText(one: Case, crowd: Crowd): Promise<string> {
  const found = await disagreements(engines, crowded(one, crowd), itemsAsked);
  const rounds = found.slice(0, 1).map(({ round }) => {
    const { tuples } = round.context;
    const own = tuples.filter(({ entity }) => !/^(0|zz)\d{3}$/.test(entity.id));
    return { ...round, context: { ...round.context, tuples: own } };
  });
  const what = found.map((each) => each.what);
  return [...what, `crowd: ${JSON.stringify(crowd)}`, caseText({ ...one, rounds })].join("\n");
}
