import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export const allTests = "test/**/*.test.ts";

/** Compiled code is kept between runs: most of a short test file's time is loading packages. */
const compileCache = "node_modules/.cache/compile";

/** Two at a time is what the smallest machine of a build has cores for. */
const concurrency = 2;

/** A test that takes longer hangs. */
const testTimeoutMs = 240_000;

/** A run that takes longer has a test in an endless loop, which no timer inside its process ends. */
const runTimeoutMs = 1_200_000;

/** Starts Node's test runner with our Postgres and our reporter; `args` are its own flags or files. */
export function startTestRunner(
  args: readonly string[],
  { stdout }: { readonly stdout: "inherit" | "pipe" },
): ChildProcess {
  const runner = spawn(
    process.execPath,
    [
      "--test",
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${testTimeoutMs}`,
      // A test that fails seldom closes what it opened: its file would not end by itself.
      "--test-force-exit",
      "--test-global-setup=test/support/setup.ts",
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
  return runner;
}

/**
 * Waits for a child and answers its exit code. What asks this process to end meanwhile is passed on
 * to the child first, so that it can clean up, and then ends this process too. The shell between
 * npm and us passes nothing on, so that its end counts as being asked.
 */
export async function exitCodeOf(child: ChildProcess): Promise<number> {
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
  for (const signal of stopSignals) process.off(signal, stop);
  clearInterval(watch);
  if (stopSignal !== undefined) process.kill(process.pid, stopSignal);
  return code ?? 1;
}
