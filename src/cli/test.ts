import { integer } from "../config/kind.ts";
import { configFlags } from "../config/load.ts";
import { type Coverage, measureCoverage } from "../model-test/coverage/measure.ts";
import { coveragePage } from "../model-test/report/page.ts";
import { exitStatusOf, type TestRun } from "../model-test/report/test-run.ts";
import type { FileResult } from "../model-test/run/case-result.ts";
import type { LoadedModel } from "../model-test/run/write-model.ts";
import type { Command } from "./command.ts";
import { FileWatch } from "./model-test/file-watch.ts";
import { loadModel, type ModelAttempt } from "./model-test/load-model.ts";
import { openTestTenants, type TestTenants } from "./model-test/open-tenants.ts";
import {
  reportForms,
  type ReportTarget,
  reportTargets,
  writeReport,
  writeResult,
} from "./model-test/report-target.ts";
import { runAttempt } from "./model-test/run-attempt.ts";
import { complain, messageOf, warn } from "./output.ts";
import { stopSignal } from "./process-events.ts";
import { readSettings } from "./settings.ts";

const percent = integer({ from: 0, to: 100 });

/** Files may have commas in their names. */
const flags = new Map([
  ["report", { isList: true, separator: "\n" }],
  ["coverage", {}],
  ["coverage-page", {}],
  ["watch", { bare: "true" }],
]);

/** Nothing was run, or not all of it. */
const notRun = 2;

export const test: Command = {
  name: "test",
  summary: "run model tests: what a schema must answer",
  flags: new Map([...configFlags(), ...flags]),
  help: () => `usage: pemba test FILE... [flags]

Runs the scenarios of YAML files, each on an empty store with the schema and the data of its file. Unknown
keys are errors. docs/testing.md describes the file and the measure of coverage.

  --report FORM[=FILE]  write a report of the form ${reportForms} to
                        standard output or a file; can be given several times (default human)
  --coverage PERCENT    measure which parts of the schema decide asserted answers, and fail if they are
                        fewer than that (${percent.expected})
  --coverage-page FILE  write the coverage as an HTML page with the schema shaded
  --watch               run again when a file changes, until the command is stopped

The store is in memory. With --database-engine postgres and --database-uri, or a variable or file as for
serve, each file runs in a new tenant of that database, which is deleted after it.

Exit status: 0 if all passed; 1 if an assertion failed, or less than the given percentage is covered; 2 if
a file could not be run, or there was nothing to run.`,

  async run(args) {
    const settings = readSettings(args, problemsOf, flags);
    if (settings.kind === "problems") {
      complain(...settings.problems);
      return notRun;
    }
    settings.warnings.forEach(warn);
    const { config, positionals, values } = settings;
    const given = values.get("report");
    const wanted: WantedTest = {
      files: positionals,
      reports: reportTargets(given === undefined ? ["human"] : given.split("\n"), []),
      threshold: percent.read(values.get("coverage") ?? ""),
      page: values.get("coverage-page"),
    };
    try {
      const tenants = await openTestTenants(config);
      try {
        if (values.get("watch") === "true") return await watchTests(wanted, tenants);
        const run = testOnce(wanted, tenants);
        return tenants.areKept ? await untilStopped(run) : (await run).status;
      } finally {
        await tenants.close();
      }
    } catch (error) {
      complain(`test: ${messageOf(error)}`);
      return notRun;
    }
  },
};

interface WantedTest {
  readonly files: readonly string[];
  readonly reports: readonly ReportTarget[];
  readonly threshold: number | undefined;
  readonly page: string | undefined;
}

function problemsOf(
  files: readonly string[],
  values: ReadonlyMap<string, string>,
): readonly string[] {
  const problems: string[] = [];
  if (files.length === 0) problems.push("test: expected a FILE");
  reportTargets(values.get("report")?.split("\n") ?? [], problems);
  const least = values.get("coverage");
  if (least !== undefined && percent.read(least) === undefined) {
    problems.push(`--coverage: expected ${percent.expected}`);
  }
  if (values.get("coverage-page") === "") problems.push("--coverage-page: expected a FILE");
  if (!["true", "false"].includes(values.get("watch") ?? "true")) {
    problems.push("--watch: takes no value");
  }
  return problems;
}

/**
 * Runs the files in the given order, and writes the reports. `onRead` is told the files on which it depends
 * before anything runs, which may take long.
 */
async function testOnce(
  { files, reports, threshold, page }: WantedTest,
  tenants: TestTenants,
  onRead?: (paths: readonly string[]) => void,
): Promise<{ readonly status: number }> {
  const attempts: ModelAttempt[] = [];
  for (const file of files) attempts.push(await loadModel(file, { isStrict: true, minDepth: 1 }));
  onRead?.(attempts.flatMap(({ paths }) => paths));
  const results: FileResult[] = [];
  for (const attempt of attempts) {
    results.push(mustTest(await runAttempt(attempt, tenants.open)));
  }
  const runnable = attempts.flatMap(({ model }, index) =>
    model !== undefined && results[index]?.problems.length === 0 ? [model] : [],
  );
  const isMeasured = threshold !== undefined || page !== undefined;
  const coverage = isMeasured ? await coverageOf(runnable) : undefined;
  const run: TestRun = { files: results, coverage, threshold };
  for (const report of reports) writeReport(report, run);
  if (page !== undefined) writeResult(page, coveragePage(coverage ?? []));
  return { status: exitStatusOf(run) };
}

/** A file that asks nothing is a mistake. Its reader allows it, because one that is begun has no scenarios. */
function mustTest(result: FileResult): FileResult {
  if (result.cases.length > 0 || result.problems.length > 0) return result;
  const place = { file: result.path, line: 1, column: 1 };
  return {
    ...result,
    problems: [{ place, message: "the file has no scenarios, so it tests nothing" }],
  };
}

/** Files with the same schema cover it together. */
async function coverageOf(models: readonly LoadedModel[]): Promise<readonly Coverage[]> {
  const bySchema = Map.groupBy(models, ({ schema }) => schema.text);
  const measured: Coverage[] = [];
  for (const group of bySchema.values()) {
    const [first] = group;
    if (first !== undefined) measured.push(await measureCoverage(first.schema, group));
  }
  return measured;
}

/** The status of a run, or of one that a signal stops. Its tenants can then be deleted. */
async function untilStopped(run: Promise<{ readonly status: number }>): Promise<number> {
  const stopped = stopSignal().then((signal) => {
    // What is still asked fails, because its tenant is gone.
    run.catch(() => undefined);
    complain(`test: stopped by ${signal}`);
    return { status: notRun };
  });
  return (await Promise.race([run, stopped])).status;
}

/** Runs until a signal to stop. Resolves to the status of the last run. */
async function watchTests(wanted: WantedTest, tenants: TestTenants): Promise<number> {
  const stopped = stopSignal();
  const files = new FileWatch();
  const local = wanted.files.filter((file) => !file.includes("://"));
  try {
    // Before they are read, so that no change is missed.
    files.follow(local);
    for (;;) {
      const { status } = await testOnce(wanted, tenants, (paths) =>
        files.follow([...local, ...paths]),
      );
      process.stderr.write("pemba: watching for changes\n");
      const signal = await Promise.race([files.changed(), stopped]);
      if (signal !== undefined) return status;
    }
  } finally {
    files.close();
  }
}
