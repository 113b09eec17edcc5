import { shortTests, startTestRun } from "./run-tests.ts";

/** Runs the test files named on the command line (or all but the long ones), without the static checks. */
const args = process.argv.slice(2);
const hasFiles = args.some((arg) => !arg.startsWith("-"));
const { exitCode } = await startTestRun(hasFiles ? args : [...args, shortTests], {
  stdout: "inherit",
});
process.exitCode = await exitCode;
