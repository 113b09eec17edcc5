import { printable } from "../../base/printable.ts";
import type { TextPlace } from "../file/text-place.ts";
import { answerText } from "../run/case-result.ts";
import { caseName, figuresOf, missingText, type TestRun } from "./test-run.ts";

/** Annotations of a workflow of GitHub, one line each. */
export function githubReport({ files, coverage = [], threshold }: TestRun): string {
  const lines: string[] = [];
  for (const { problems, warnings, cases } of files) {
    for (const { place, message } of warnings) lines.push(annotation("warning", place, message));
    for (const { place, message } of problems) lines.push(annotation("error", place, message));
    for (const result of cases) {
      const { outcome, place } = result;
      if (outcome.kind === "passed") continue;
      const got = outcome.kind === "failed" ? answerText(outcome.got) : outcome.message;
      const text = `${caseName(result)}\nexpected ${answerText(outcome.expected)}, got ${got}`;
      lines.push(annotation("error", place, text));
    }
  }
  for (const { schema, parts } of coverage) {
    const level = figuresOf(parts).percent < (threshold ?? 0) ? "error" : "notice";
    for (const part of parts) {
      if (part.missing.length === 0) continue;
      lines.push(annotation(level, schema.placeIn(part.line, part.column), missingText(part)));
    }
  }
  return lines.join("\n");
}

function annotation(level: "error" | "warning" | "notice", place: TextPlace, text: string): string {
  const { file, line, column } = place;
  return `::${level} file=${escapeProperty(file)},line=${line},col=${column}::${escapeData(text)}`;
}

function escapeData(text: string): string {
  const lines = text.split(/\r?\n/).map(printable);
  return lines.join("\n").replaceAll("%", "%25").replaceAll("\n", "%0A");
}

/** A property ends at a comma or a colon. */
function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
