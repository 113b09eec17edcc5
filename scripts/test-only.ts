import { allTests, exitCodeOf, startTestRunner } from "./run-tests.ts";

/** Runs the test files named on the command line (or all), without the static checks. */
const args = process.argv.slice(2);
const hasFiles = args.some((arg) => !arg.startsWith("-"));
const runner = startTestRunner(hasFiles ? args : [...args, allTests], { stdout: "inherit" });
process.exitCode = await exitCodeOf(runner);
