import { writeFileSync } from "node:fs";

import { lintSchemaText } from "../../authoring/lint/lint.ts";
import { PembaError } from "../../base/error.ts";
import { parseFlags } from "../../config/flags.ts";
import { boolean } from "../../config/kind.ts";
import type { Command } from "../command.ts";
import { complain, messageOf, put } from "../output.ts";
import { readSchemaText } from "../schema-text.ts";
import { lintReports, type ReportedFinding } from "./lint-report.ts";

const flags = new Map([
  // A line break cannot be part of a form, and hardly of the name of a file.
  ["report", { isList: true, separator: "\n" }],
  ["strict", { bare: "true" }],
]);

/** The exit status if there is no answer. */
const failed = 2;

export const lint: Command = {
  name: "lint",
  summary: "say what is legal but doubtful in a schema",
  flags,
  help: () => `usage: pemba schema lint FILE... [flags]

Says what is legal but doubtful in a schema; \`-\` is standard input. docs/lint.md explains each code.
A comment \`// pemba-lint: allow CODE\` allows the line below it, or the member that begins there.

  --report  human, json or github, or with a file to write to, such as json=lint.json;
            can be given several times (default human)
  --strict  warnings count as errors

The exit status is 0 without errors, 1 with errors, and 2 if a file cannot be read or does not compile.`,

  async run(args) {
    const { values, positionals: files, problems } = parseFlags(args, flags);
    if (files.length === 0)
      problems.push("schema lint: expected a file, or `-` for standard input");
    const isStrict = boolean.read(values.get("strict") ?? "false");
    if (isStrict === undefined) problems.push(`--strict: expected ${boolean.expected}`);
    const wanted = (values.get("report") ?? "human").split("\n").map(wantedReport);
    for (const { form } of wanted) {
      if (lintReports.has(form)) continue;
      problems.push(`--report: expected human, json or github, not \`${form}\``);
    }
    if (problems.length > 0) {
      complain(...problems);
      return failed;
    }
    const outcomes = files.map(lintFile);
    const findings = outcomes.flatMap((outcome) => outcome.findings);
    for (const { form, file } of wanted) {
      const text = lintReports.get(form)?.(findings) ?? "";
      if (file === undefined) put(text);
      else if (!tryWrite(file, text)) return failed;
    }
    if (outcomes.some(({ isSchema }) => !isSchema)) return failed;
    return findings.some(({ severity }) => isFatal(severity, isStrict === true)) ? 1 : 0;
  },
};

interface WantedReport {
  readonly form: string;
  /** Undefined for standard output. */
  readonly file: string | undefined;
}

function wantedReport(text: string): WantedReport {
  const at = text.indexOf("=");
  if (at === -1) return { form: text, file: undefined };
  return { form: text.slice(0, at), file: text.slice(at + 1) };
}

function isFatal(severity: ReportedFinding["severity"], isStrict: boolean): boolean {
  return severity === "error" || (isStrict && severity === "warning");
}

interface FileOutcome {
  /** Whether the file could be read and compiles. */
  readonly isSchema: boolean;
  readonly findings: readonly ReportedFinding[];
}

function lintFile(file: string): FileOutcome {
  try {
    const findings = lintSchemaText(readSchemaText(file, "schema lint"));
    return {
      isSchema: true,
      findings: findings.map(({ position: { line, column }, ...finding }) => ({
        file,
        line,
        column,
        ...finding,
      })),
    };
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return { isSchema: false, findings: faultsOf(file, error) };
  }
}

/** What is wrong with a file that is no schema, with the places if there are some. */
function faultsOf(file: string, error: PembaError): readonly ReportedFinding[] {
  const code = error.code.toLowerCase().replaceAll("_", "-");
  const fault = { file, severity: "error", code } as const;
  if (error.details.length === 0) {
    return [{ ...fault, line: 1, column: 1, endColumn: 1, message: messageOf(error) }];
  }
  return error.details.map(({ line = 1, column = 1, message }) => ({
    ...fault,
    line,
    column,
    endColumn: column,
    message,
  }));
}

function tryWrite(file: string, text: string): boolean {
  try {
    writeFileSync(file, text);
    return true;
  } catch (error) {
    complain(`--report: \`${file}\` cannot be written: ${messageOf(error)}`);
    return false;
  }
}
