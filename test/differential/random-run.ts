import assert from "node:assert/strict";

import fc from "fast-check";

import { caseCount, seed } from "../support/run-length.ts";

/** For the search of a smaller case after a failure. */
const shrinkMs = 30_000;

/** Random cases that are a test of their own, and the seed that repeats them. */
export interface RandomRun {
  readonly seed: number;
  readonly cases: number;
}

/** So many that a test of them ends within the time that a test has, also on a busy machine. */
const batchSize = 50;

/**
 * The run that the environment asks for, or one of `cases` cases with a seed of its own, in parts
 * that are a test each. A part has a seed of its own, with which it can be repeated alone.
 */
export function randomRuns(cases: number): readonly RandomRun[] {
  const all = caseCount({ short: cases, long: cases });
  return Array.from({ length: Math.ceil(all / batchSize) }, (_, part) => ({
    seed: seed + part,
    cases: Math.min(batchSize, all - part * batchSize),
  }));
}

/** Fails with the smallest case that was found in which something is wrong. */
export async function assertNoFaults<T>(
  any: fc.Arbitrary<T>,
  { seed, cases }: RandomRun,
  about: {
    readonly faults: (one: T) => Promise<readonly unknown[]>;
    /** What is wrong with it, and the case itself. */
    readonly text: (one: T) => Promise<string>;
  },
): Promise<void> {
  const property = fc.asyncProperty(any, async (one) => (await about.faults(one)).length === 0);
  const report = await fc.check(property, { seed, numRuns: cases, endOnFailure: true });
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
  const text = await about.text(smallest);
  assert.fail(`PEMBA_SEED=${seed}\n${text}\n${String(report.errorInstance)}`);
}
