import { endFiles, startShortTests, startTestRun } from "./run-tests.ts";

/**
 * Runs the test files named on the command line, each in a process of its own, or all but the long
 * ones in batches; without the static checks.
 */
const args = process.argv.slice(2);
const hasFiles = args.some((arg) => !arg.startsWith("-"));
const { exitCode } = hasFiles
  ? await startTestRun([endFiles, ...args], { stdout: "inherit" })
  : await startShortTests(args, { stdout: "inherit" });
process.exitCode = await exitCode;
