import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { migrateUp } from "../../src/store/postgres/migrate.ts";
import { createTemplate, dropTestDatabases } from "../support/database.ts";

/*
 * The tests beside the differential ones that guard the same code: limits, texts of errors, statements
 * and what is too rare for a random draw. They take longer than a trial, and are asked of survivors.
 */

const solving = [
  "test/memory/*.test.ts",
  "test/scenarios/!(gather-limit|statements|lookup-statements).test.ts",
  "test/store/{answering,memory-lookup}.test.ts",
];

const planning = [
  "test/{memory,plan,scenarios}/*.test.ts",
  "test/store/{answering,expand,memory-lookup}.test.ts",
  "test/http/expand-limits.test.ts",
  // A trial has a dozen random cases.
  "test/differential/lookup.test.ts",
];

/** No golden texts: they see every change of a statement, and do not say which one is wrong. */
const otherTests: Readonly<Record<string, readonly string[]>> = {
  "src/memory": solving,
  "src/plan": planning,
  "src/sql": [
    ...planning,
    "test/sql/!(golden|*.long).test.ts",
    // A trial asks some of the lookups of a case, this all of them.
    "test/differential/regressions.test.ts",
    "test/store/{layered-checks,limit-reads,reads,tenant-created-anew}.test.ts",
  ],
};

const root = join(import.meta.dirname, "..", "..");

/** A run takes a minute or two without a fault. */
const runMs = 400_000;

/** Runs these tests with a fault on from the beginning. */
export class OtherTests {
  readonly #instrumented: string;

  private constructor(instrumented: string) {
    this.#instrumented = instrumented;
  }

  /** Fails if a test of these folders fails without a fault. */
  static async start(folders: readonly string[], instrumented: string): Promise<OtherTests> {
    process.env["PEMBA_TEST_RUN"] = randomUUID().slice(0, 8);
    await createTemplate(migrateUp);
    const tests = new OtherTests(instrumented);
    for (const folder of folders) {
      const failure = await tests.failure(folder, undefined);
      if (failure !== undefined) throw new Error(`fails without a fault: ${failure}`);
    }
    return tests;
  }

  /** The first test that fails with the fault, or undefined. */
  async failure(folder: string, fault: number | undefined): Promise<string | undefined> {
    const runner = this.#spawn(otherTests[folder] ?? [], fault);
    const timer = setTimeout(() => runner.kill("SIGKILL"), runMs);
    const ended = once(runner, "close");
    let failed: string | undefined;
    if (runner.stdout !== null) {
      for await (const line of createInterface({ input: runner.stdout })) {
        const name = /^\s*not ok \d+ - (?<name>.*)$/.exec(line)?.groups?.["name"];
        if (name === undefined || failed !== undefined) continue;
        failed = name;
        runner.kill("SIGKILL");
      }
    }
    await ended;
    clearTimeout(timer);
    if (failed !== undefined) return failed;
    return runner.exitCode === 0 ? undefined : "a test that did not end";
  }

  async close(): Promise<void> {
    await dropTestDatabases();
  }

  #spawn(files: readonly string[], fault: number | undefined): ChildProcess {
    const args = [
      "--test",
      // One process for all files: to start one takes longer than most of the tests in it.
      "--test-isolation=none",
      "--test-force-exit",
      "--test-reporter=tap",
      `--import=${join(import.meta.dirname, "load-instrumented.ts")}`,
      ...files,
    ];
    return spawn(process.execPath, args, {
      cwd: root,
      env: {
        ...process.env,
        PEMBA_SEED: "1",
        PEMBA_INSTRUMENTED: this.#instrumented,
        ...(fault === undefined ? {} : { PEMBA_FAULT: String(fault) }),
      },
      stdio: ["ignore", "pipe", "ignore"],
    });
  }
}
