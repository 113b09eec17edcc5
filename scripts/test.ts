import { createInterface } from "node:readline";

import { runChecks, runSection } from "./run-checks.ts";
import { allTests, startTestRun } from "./run-tests.ts";

/** `N passed, N failed`, as the reporter ends. */
const closingLine = /^(?<passed>\d+) passed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)?$/;

const total = { ...(await runChecks()), skipped: 0 };
await runSection("tests", async () => {
  const { runner, exitCode } = await startTestRun([allTests], { stdout: "pipe" });
  const tests = { passed: 0, failed: 0, skipped: 0 };
  if (runner.stdout !== null) {
    for await (const line of createInterface({ input: runner.stdout })) {
      const counts = closingLine.exec(line)?.groups;
      if (counts === undefined) {
        process.stdout.write(`${line}\n`);
        continue;
      }
      tests.passed = Number(counts["passed"]);
      tests.failed = Number(counts["failed"]);
      tests.skipped = Number(counts["skipped"] ?? 0);
    }
  }
  // A run that broke off outside any test has failed all the same.
  if ((await exitCode) !== 0 && tests.failed === 0) tests.failed = 1;
  total.passed += tests.passed;
  total.failed += tests.failed;
  total.skipped += tests.skipped;
  return tests.failed === 0;
});

// The static checks count as one test each, so that this line and the exit code never disagree.
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed > 0 ? 1 : 0;
