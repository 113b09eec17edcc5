import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";

import { migrateUp } from "../src/store/postgres/migrate.ts";
import { createTemplate, dropTestDatabases } from "../test/support/database.ts";
import { findPostgres } from "../test/support/postgres.ts";
import { batchesOf, makePrograms } from "./batches.ts";

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

/** `N passed, N failed`, as the reporter ends. */
const closingLine = /^(?<passed>\d+) passed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)?$/;

/**
 * Compiled code is kept between runs: most of a short test file's time is loading packages. So is it
 * for the processes that tests start, some of them in folders of their own.
 */
const compileCache = resolve("node_modules/.cache/compile");

/** One more than the smallest machine of a build has cores: many tests wait most of their time. */
const concurrency = 3;

/** Something hangs in a batch that takes longer, and in a file that is long by nature. */
const batchTimeoutMs = 600_000;
const longTestTimeoutMs = 900_000;

/** A run that takes longer has a test in an endless loop, which no timer inside its process ends. */
const runTimeoutMs = 2_400_000;

/** How a run ended. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Runs the tests of every change, many files in one process, and answers their counts. */
export async function runShortTests(): Promise<Counts> {
  return await countTests(await startShortTests([], { stdout: "pipe" }));
}

/** Runs the long tests, each file in a process of its own, and answers their counts. */
export async function runLongTests(): Promise<Counts> {
  return await countTests(await startTestRun([endFiles, longTests], { stdout: "pipe" }));
}

/** Passes on all that is told of tests but the closing line, and answers its counts. */
async function countTests({ runner, exitCode }: TestRun): Promise<Counts> {
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
  return tests;
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
  const options = { stdout, testTimeoutMs: batchTimeoutMs, cleanUp: remove };
  try {
    return await startTestRun([...flags, pattern], options);
  } catch (error) {
    await remove();
    throw error;
  }
}

interface TestRunOptions {
  readonly stdout: "inherit" | "pipe";
  readonly testTimeoutMs?: number;
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
  { stdout, testTimeoutMs = longTestTimeoutMs, cleanUp = async () => {} }: TestRunOptions,
): Promise<TestRun> {
  const server = await findPostgres();
  process.stdout.write(`${server.description}\n`);
  process.env["PEMBA_TEST_DATABASE_URL"] = server.url;
  if (server.cluster !== undefined) process.env["PEMBA_TEST_CLUSTER"] = server.cluster;
  process.env["PEMBA_TEST_RUN"] = randomUUID().slice(0, 8);
  await createTemplate(migrateUp);
  const runner = spawn(
    process.execPath,
    [
      "--test",
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${testTimeoutMs}`,
      "--import=./test/support/whole-report.ts",
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
