import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { must } from "../../src/base/assert.ts";
import { type Disagreement, disagreements } from "./agreement.ts";
import { type Case, caseText } from "./case.ts";
import { type Engines, startEngines } from "./engines.ts";
import { largeCase } from "./generate-large.ts";
import { anyCase, anyNeighbours } from "./generate.ts";
import { askSingly, tell, tellWrite } from "./story.ts";

/*
 * The proof of the engines: random schemas, data and questions, where the oracle, the memory engine
 * and the Postgres engine must agree. A failure prints its seed and the smallest case that was
 * found; kept as a file in test/regressions it is replayed before anything else.
 * PEMBA_SEED repeats a run, PEMBA_CASES makes it longer or shorter.
 */

const seed = Number(process.env["PEMBA_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const cases = Number(process.env["PEMBA_CASES"] ?? 300);
/** Of each of the three rounds of a case. */
const itemsAsked = 7;

/** For the search of a smaller case after a failure. */
const shrinkMs = 60_000;

const regressions = join(import.meta.dirname, "..", "regressions");

let engines: Engines;

before(async () => {
  engines = await startEngines();
});

after(async () => {
  await engines.stop();
});

for (const file of readdirSync(regressions).filter((name) => name.endsWith(".json"))) {
  test(`the engines still agree with the oracle on ${file}`, async () => {
    const kept: Case = JSON.parse(readFileSync(join(regressions, file), "utf8"));
    const found = await disagreements(engines, kept, Number.POSITIVE_INFINITY);
    assert.equal(found.length, 0, describe(kept, found));
  });
}

test(`oracle, memory and Postgres agree on every check of ${cases} random cases`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  await agreeOn(anyCase, cases);
});

test("oracle, memory and Postgres agree on users in hundreds of nested groups", async () => {
  await agreeOn(largeCase, Math.ceil(cases / 15));
});

test("no write into one tenant changes an answer in another", async () => {
  const property = fc.asyncProperty(anyNeighbours, async ({ ours, theirs }) => {
    for (const store of [engines.memory, engines.postgres]) {
      const mine = await tell(store, ours);
      const other = await tell(store, { schemas: ours.schemas, writes: [] });
      const rounds = ours.rounds.map((one) => ({ ...one, items: one.items.slice(0, itemsAsked) }));
      const answers = await Promise.all(rounds.map((round) => askSingly(mine, round)));
      for (const write of theirs) await tellWrite(other, write);
      const later = await Promise.all(rounds.map((round) => askSingly(mine, round)));
      assert.deepEqual(later, answers);
    }
  });
  await fc.assert(property, { seed, numRuns: Math.ceil(cases / 10) });
});

async function agreeOn(any: fc.Arbitrary<Case>, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(any, async (one) => {
    const found = await disagreements(engines, one, itemsAsked);
    return found.length === 0;
  });
  const report = await fc.check(property, { seed, numRuns, endOnFailure: true });
  if (!report.failed) return;
  // From the failing case on, with an end: each step tells a whole case to both engines.
  const shrunk = await fc.check(property, {
    seed,
    path: report.counterexamplePath ?? "",
    interruptAfterTimeLimit: shrinkMs,
  });
  const [smallest] = shrunk.counterexample ?? report.counterexample ?? [];
  assert.ok(smallest !== undefined, String(report.errorInstance));
  // Told again, because a property only says whether it holds.
  const found = await disagreements(engines, smallest, itemsAsked);
  assert.fail(`PEMBA_SEED=${seed}\n${describe(smallest, found)}\n${String(report.errorInstance)}`);
}

function describe(one: Case, found: readonly Disagreement[]): string {
  if (found.length === 0) return "the smallest case does not fail when it is told again";
  const [first] = found;
  const rounds = [must(first, "there is one").round];
  return `${found.map(({ what }) => what).join("\n")}\n${caseText({ ...one, rounds })}`;
}
