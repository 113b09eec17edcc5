import { testRandomChecks } from "./random-checks.ts";

/*
 * The proof of the engines: random schemas, data and questions, where the oracle, the memory engine
 * and the Postgres engine must agree. A failure prints its seed and the smallest case that was
 * found; kept as a file in test/regressions it is replayed from then on (regressions.test.ts).
 * PEMBA_SEED repeats a run, PEMBA_CASES makes it longer or shorter. The long runs of this folder are
 * in files of their own.
 */
testRandomChecks(15);
