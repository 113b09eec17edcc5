import { allTests, startTestRun } from "./run-tests.ts";

/** Runs the test files named on the command line (or all), without the static checks. */
const args = process.argv.slice(2);
const hasFiles = args.some((arg) => !arg.startsWith("-"));
const { exitCode } = await startTestRun(hasFiles ? args : [...args, allTests], {
  stdout: "inherit",
});
process.exitCode = await exitCode;
