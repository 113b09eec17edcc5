import { writeBatches } from "./batches.ts";
import { endFiles, shortTests, startTestRun } from "./run-tests.ts";

/**
 * Runs the test files named on the command line, each in a process of its own, or all but the long
 * ones in batches; without the static checks.
 */
const args = process.argv.slice(2);
const hasFiles = args.some((arg) => !arg.startsWith("-"));
if (hasFiles) {
  const { exitCode } = await startTestRun([endFiles, ...args], { stdout: "inherit" });
  process.exitCode = await exitCode;
} else {
  const batches = await writeBatches(shortTests);
  const { exitCode } = await startTestRun([...args, batches.pattern], { stdout: "inherit" });
  process.exitCode = await exitCode;
  await batches.remove();
}
