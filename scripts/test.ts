import { endOfSection, runChecks } from "./run-checks.ts";
import { endWith, runShortTests } from "./run-tests.ts";

/** What holds a change: the static checks, and beside them all tests but the long ones. */
const start = performance.now();
const [checks, tests] = await Promise.all([runChecks(), runShortTests()]);
process.stdout.write(endOfSection("tests", tests.failed === 0, start));
// The static checks count as one test each.
endWith({
  passed: checks.passed + tests.passed,
  failed: checks.failed + tests.failed,
  skipped: tests.skipped,
});
