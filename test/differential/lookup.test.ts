import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { type Case, caseText } from "./case.ts";
import { type Engines, startEngines } from "./engines.ts";
import { anyLookupCase, crowdedLookupCase, largeLookupCase } from "./generate-lookup.ts";
import { lookupDisagreements } from "./lookup-agreement.ts";
import type { LookupCase } from "./lookup-case.ts";

/*
 * The proof of lookups: what both engines find, at once and page by page while the data change, is
 * what the oracle finds by trying every known id. PEMBA_SEED repeats a run, PEMBA_CASES makes it
 * longer or shorter.
 */

const seed = Number(process.env["PEMBA_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
const cases = Number(process.env["PEMBA_CASES"] ?? 100);
/** Of each round. */
const lookupsAsked = 6;
const shrinkMs = 60_000;

const regressions = join(import.meta.dirname, "..", "regressions");

let started: Engines;

before(async () => {
  started = await startEngines();
});

after(() => started.stop());

for (const file of readdirSync(regressions).filter((name) => name.endsWith(".json"))) {
  test(`lookups still find what the oracle finds on ${file}`, async () => {
    const kept: Case & Partial<LookupCase> = JSON.parse(
      readFileSync(join(regressions, file), "utf8"),
    );
    const one = { scopes: [{}], pageSizes: [1, 2], meanwhile: [], ...kept };
    assert.deepEqual(await ask(one), []);
  });
}

test(`both engines look up what the oracle finds, in ${cases} random cases`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  await agreeOn(anyLookupCase, cases);
});

test("both engines look up what the oracle finds among users in hundreds of nested groups", async () => {
  await agreeOn(largeLookupCase, Math.ceil(cases / 40));
});

test("both engines look up what the oracle finds among subjects in a crowd of usersets", async () => {
  await agreeOn(crowdedLookupCase, Math.ceil(cases / 10));
});

async function ask(one: LookupCase): Promise<readonly string[]> {
  const { memory, postgres } = started;
  return await lookupDisagreements({ memory, postgres }, one, lookupsAsked);
}

async function agreeOn(any: fc.Arbitrary<LookupCase>, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(any, async (one) => (await ask(one)).length === 0);
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
  const found = await ask(smallest);
  assert.fail(
    `PEMBA_SEED=${seed}\n${found.join("\n")}\n${caseText(smallest)}\n${String(report.errorInstance)}`,
  );
}
