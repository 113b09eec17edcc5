import { spawn, type ChildProcess } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { once } from "node:events";
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

import { migrateUp } from "../src/store/postgres/migrate.ts";
import { createTemplate, dropTestDatabases } from "../test/support/database.ts";
import { findPostgres } from "../test/support/postgres.ts";
import { batchesOf, makePrograms } from "./batches.ts";
import { filesToRepeat, readReport, withRepeated, type Counts, type Report } from "./run-report.ts";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What is run on every change, in a few minutes. */
export const shortTests = "test/**/!(*.long).test.ts";

/** What takes long by nature: the rest. */
const longTests = "test/**/*.long.test.ts";

/**
 * The runner's flag that ends a file after its last test. A test that fails seldom closes what it
 * opened: its file would not end by itself. A batch sees to its own end.
 */
export const endFiles = "--test-force-exit";

/** What all random tests of the run draw from, so that what failed can be run again as it was. */
const runSeed = process.env["PEMBA_SEED"] ?? String(randomInt(2 ** 31));

const piped = { stdout: "pipe" } as const;

/**
 * Compiled code is kept between runs: most of a short test file's time is loading packages. So is it
 * for the processes that tests start, some of them in folders of their own.
 */
const compileCache = resolve("node_modules/.cache/compile");

/** One more than the smallest machine of a build has cores: many tests wait most of their time. */
const concurrency = 3;

/** Something hangs in a batch that takes longer, and in a file that is long by nature, also on a busy machine. */
const timeoutMs = 1_800_000;

/** A run that takes longer has a test in an endless loop, which no timer inside its process ends. */
const runTimeoutMs = 5_400_000;

/** Runs the tests of every change, many files in one process, and answers their counts. */
export async function runShortTests(): Promise<Counts> {
  return await repeatFailed(await tellRun(await startShortTests([], piped)));
}

/** Runs the long tests, each file in a process of its own, and answers their counts. */
export async function runLongTests(): Promise<Counts> {
  return await repeatFailed(await tellRun(await startTestRun([endFiles, longTests], piped)));
}

/**
 * Runs the files that failed once more, alone, with the seed of the run. A machine that stood still
 * for a while fails a test that waits; a fault of the product fails again. What passes now is told as
 * unsteady, which is a fault of the test or a race in the product: it is to be mended, but it does not
 * stop a change that has no part in it.
 */
async function repeatFailed(first: Report): Promise<Counts> {
  const files = filesToRepeat(first);
  if (files.length === 0) return first;
  process.stdout.write(`\nonce more, alone: ${files.join(" ")}\n`);
  const args = [endFiles, "--test-concurrency=1", ...files];
  const second = await tellRun(await startTestRun(args, piped));
  const unsteady = second.failed === 0 ? files : [];
  for (const file of unsteady) {
    process.stdout.write(`UNSTEADY  ${file}: it failed beside others, seed ${runSeed}\n`);
  }
  return withRepeated(first, second);
}

/** Passes on all that is told of tests but the closing line. */
async function tellRun({ runner, exitCode }: TestRun): Promise<Report> {
  const lines = runner.stdout === null ? [] : createInterface({ input: runner.stdout });
  const report = await readReport(lines, (line) => process.stdout.write(`${line}\n`));
  // A run that broke off outside any test has failed all the same.
  return (await exitCode) !== 0 && report.failed === 0 ? { ...report, failed: 1 } : report;
}

/** Prints the closing line. The exit code is such that the two never disagree. */
export function endWith({ passed, failed, skipped }: Counts): void {
  const unrun = skipped > 0 ? `, ${skipped} skipped` : "";
  process.stdout.write(`${passed} passed, ${failed} failed${unrun}\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}

/** Node's test runner at work, with a Postgres of its own. */
export interface TestRun {
  readonly runner: ChildProcess;
  /** Resolves to its exit code when nothing is left of the run. */
  readonly exitCode: Promise<number>;
}

/** Starts the tests of every change, in batches; `flags` are more flags of the runner. */
export async function startShortTests(
  flags: readonly string[],
  { stdout }: Pick<TestRunOptions, "stdout">,
): Promise<TestRun> {
  const { pattern, remove } = await makePrograms(batchesOf(globSync(shortTests)));
  const options = { stdout, cleanUp: remove };
  try {
    return await startTestRun([...flags, pattern], options);
  } catch (error) {
    await remove();
    throw error;
  }
}

interface TestRunOptions {
  readonly stdout: "inherit" | "pipe";
  /** What else is to be done when the run has ended or was stopped. */
  readonly cleanUp?: () => Promise<void>;
}

/**
 * Finds a Postgres and starts Node's test runner with our reporter; `args` are its own flags or files.
 * The Postgres is ours to end and not a hook's of the runner, which does not wait for it when it
 * forces files to end.
 */
export async function startTestRun(
  args: readonly string[],
  { stdout, cleanUp = async () => {} }: TestRunOptions,
): Promise<TestRun> {
  const given = { ...process.env };
  const server = await findPostgres();
  process.stdout.write(`${server.description}\n`);
  process.stdout.write(`Random tests draw from PEMBA_SEED=${runSeed}\n`);
  process.env["PEMBA_SEED"] = runSeed;
  process.env["PEMBA_TEST_DATABASE_URL"] = server.url;
  if (server.cluster !== undefined) process.env["PEMBA_TEST_CLUSTER"] = server.cluster;
  process.env["PEMBA_TEST_RUN"] = randomUUID().slice(0, 8);
  await createTemplate(migrateUp);
  const runner = spawn(
    process.execPath,
    [
      "--test",
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${timeoutMs}`,
      "--import=./test/support/whole-report.ts",
      "--import=./test/support/light-runner.ts",
      "--test-reporter=./test/support/reporter.ts",
      "--test-reporter-destination=stdout",
      ...args,
    ],
    {
      env: { NODE_COMPILE_CACHE: compileCache, ...process.env },
      stdio: ["ignore", stdout, "inherit"],
    },
  );
  setTimeout(() => runner.kill(), runTimeoutMs).unref();
  const exitCode = exitCodeOf(runner, async () => {
    // What files that failed left, on a server that may not be ours to end.
    await dropTestDatabases();
    await server.stop();
    // Of the server that has stopped, a run that follows must not know.
    for (const name of Object.keys(process.env)) if (!(name in given)) delete process.env[name];
    Object.assign(process.env, given);
    await cleanUp();
  });
  return { runner, exitCode };
}

/**
 * Waits for a child and answers its exit code. What asks this process to end meanwhile is passed on
 * to the child first, and then ends this process too, in either case after `cleanUp`. The shell
 * between npm and us passes nothing on, so that its end counts as being asked.
 */
export async function exitCodeOf(
  child: ChildProcess,
  cleanUp: () => Promise<void> = async () => {},
): Promise<number> {
  let stopSignal: NodeJS.Signals | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    stopSignal ??= signal;
    child.kill(signal);
  };
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent && stopSignal === undefined) stop("SIGTERM");
  }, 500);
  for (const signal of stopSignals) process.on(signal, stop);
  const [code] = (await once(child, "close")) as [number | null];
  await cleanUp();
  for (const signal of stopSignals) process.off(signal, stop);
  clearInterval(watch);
  if (stopSignal !== undefined) process.kill(process.pid, stopSignal);
  return code ?? 1;
}
