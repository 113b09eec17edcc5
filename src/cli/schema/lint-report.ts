import type { LintFinding } from "../../authoring/lint/lint.ts";

/** A finding, or a fault of a file that is no schema, with its place. */
export interface ReportedFinding extends Omit<LintFinding, "position"> {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The forms of a report. Each makes the whole text, with a line break at its end. */
export const lintReports: ReadonlyMap<string, (findings: readonly ReportedFinding[]) => string> =
  new Map([
    ["human", humanReport],
    ["json", jsonReport],
    ["github", githubReport],
  ]);

function humanReport(findings: readonly ReportedFinding[]): string {
  const lines = findings.map(
    ({ file, line, column, severity, message, code }) =>
      `${file}:${line}:${column}: ${severity}: ${message} (${code})\n`,
  );
  const counts = severities
    .map((severity) => [severity, countOf(findings, severity)] as const)
    .filter(([, count]) => count > 0)
    .map(([severity, count]) => `${count} ${severity}${count === 1 ? "" : "s"}`);
  return `${lines.join("")}${counts.length === 0 ? "no findings" : counts.join(", ")}\n`;
}

const severities = ["error", "warning", "note"] as const;

function countOf(
  findings: readonly ReportedFinding[],
  severity: ReportedFinding["severity"],
): number {
  return findings.filter((finding) => finding.severity === severity).length;
}

function jsonReport(findings: readonly ReportedFinding[]): string {
  const report = {
    errors: countOf(findings, "error"),
    warnings: countOf(findings, "warning"),
    notes: countOf(findings, "note"),
    findings: findings.map(({ file, line, column, endColumn, severity, code, message }) => ({
      file,
      line,
      column,
      end_column: endColumn,
      severity,
      code,
      message,
    })),
  };
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

/** Workflow commands of GitHub Actions. */
function githubReport(findings: readonly ReportedFinding[]): string {
  return findings
    .map(({ file, line, column, endColumn, severity, code, message }) => {
      const kind = severity === "note" ? "notice" : severity;
      const properties = [
        ["file", file],
        ["line", line],
        ["col", column],
        ["endColumn", endColumn],
        ["title", `pemba schema lint: ${code}`],
      ].map(([name, value]) => `${name}=${escapedProperty(String(value))}`);
      return `::${kind} ${properties.join(",")}::${escapedData(message)}\n`;
    })
    .join("");
}

function escapedData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
