import { runChecks, runSection } from "./run-checks.ts";
import { endWith, runShortTests } from "./run-tests.ts";

/** What holds a change: the static checks, and all tests but the long ones. */
const total = { ...(await runChecks()), skipped: 0 };
await runSection("tests", async () => {
  const tests = await runShortTests();
  total.passed += tests.passed;
  total.failed += tests.failed;
  total.skipped += tests.skipped;
  return tests.failed === 0;
});
// The static checks count as one test each.
endWith(total);
