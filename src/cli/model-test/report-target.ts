import { writeFileSync } from "node:fs";

import { PembaError } from "../../base/error.ts";
import { quote } from "../../base/quote.ts";
import { githubReport } from "../../model-test/report/github.ts";
import { humanReport, type Paint } from "../../model-test/report/human.ts";
import { jsonReport } from "../../model-test/report/json.ts";
import { junitReport } from "../../model-test/report/junit.ts";
import type { TestRun } from "../../model-test/report/test-run.ts";
import { say } from "../output.ts";
import { colours } from "./show.ts";

/** A report and the file that it goes to. Undefined for standard output. */
export interface ReportTarget {
  readonly form: ReportForm;
  readonly file: string | undefined;
}

const reports = {
  human: (run: TestRun, isShown: boolean) => humanReport(run, isShown ? colours : plain),
  json: jsonReport,
  junit: junitReport,
  github: githubReport,
} as const satisfies Record<string, (run: TestRun, isShown: boolean) => string>;

type ReportForm = keyof typeof reports;

/** The words of `--report`, for help and messages. */
export const reportForms = Object.keys(reports).join(", ");

/** Parses `form[=FILE]`, given several times. Adds what is wrong to `problems`. */
export function reportTargets(
  texts: readonly string[],
  problems: string[],
): readonly ReportTarget[] {
  const targets = texts.flatMap((text): readonly ReportTarget[] => {
    const [word = "", ...rest] = text.split("=");
    const file = rest.length === 0 ? undefined : rest.join("=");
    if (isForm(word) && file !== "") return [{ form: word, file }];
    problems.push(
      `--report: ${quote(text)} is not a report, expected one of ${reportForms}, with \`=FILE\` or alone`,
    );
    return [];
  });
  const files = targets.map(({ file }) => file);
  if (new Set(files).size < files.length) {
    problems.push("--report: two reports go to one place, expected a FILE for each but one");
  }
  return targets;
}

function isForm(word: string): word is ReportForm {
  return Object.hasOwn(reports, word);
}

/** Writes a report to its place. Fails if that cannot be written. */
export function writeReport({ form, file }: ReportTarget, run: TestRun): void {
  const text = reports[form](run, file === undefined);
  if (file === undefined) {
    if (text !== "") say(text);
  } else writeResult(file, `${text}\n`);
}

/** Writes the file of a result. Fails with an error that names it. */
export function writeResult(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw new PembaError("INVALID_ARGUMENT", `${quote(file)} cannot be written`, { cause });
  }
}

const plain: Paint = (_tone, text) => text;
