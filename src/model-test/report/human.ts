import { printable } from "../../base/printable.ts";
import type { Coverage } from "../coverage/measure.ts";
import { type PlacedMessage, placeText } from "../file/text-place.ts";
import { type Answer, type CaseResult, type FileResult } from "../run/case-result.ts";
import {
  countCases,
  figuresByKind,
  figuresOf,
  missingText,
  type TestRun,
  caseName,
} from "./test-run.ts";

/** How a text is shown: `good` and `bad` may be coloured. */
export type Paint = (tone: "good" | "bad", text: string) => string;

/** A line before it is painted. Its text is as it comes from the file. */
interface ReportLine {
  readonly text: string;
  readonly tone?: "good" | "bad";
}

/** The report for people: failures with what was expected, then totals. */
export function humanReport(run: TestRun, paint: Paint): string {
  const lines = [
    ...run.files.flatMap(fileLines),
    ...(run.coverage ?? []).flatMap((one) => coverageLines(one, run.threshold)),
    totalLine(run),
  ];
  return lines
    .map(({ text, tone }) => (tone === undefined ? printable(text) : paint(tone, printable(text))))
    .join("\n");
}

function fileLines({ path, problems, warnings, cases }: FileResult): readonly ReportLine[] {
  const failed = cases.filter(({ outcome }) => outcome.kind !== "passed");
  const isGood = problems.length === 0 && failed.length === 0 && cases.length > 0;
  const passed = cases.length - failed.length;
  const count = cases.length === 0 ? "nothing was run" : `${passed} of ${cases.length} passed`;
  const told = (message: PlacedMessage): string => `  ${placeText(message.place)}: `;
  return [
    { text: `${isGood ? "ok  " : "FAIL"} ${path}: ${count}`, tone: isGood ? "good" : "bad" },
    ...warnings.map((one) => ({ text: `${told(one)}warning: ${one.message}` })),
    ...problems.map((one) => ({ text: `${told(one)}${one.message}` })),
    ...failed.flatMap(failureLines),
  ];
}

/** With the proof of what was got. */
function failureLines(result: CaseResult): readonly ReportLine[] {
  const { outcome, place } = result;
  if (outcome.kind === "passed") return [];
  const got = outcome.kind === "failed" ? shown(outcome.got) : `error: ${outcome.message}`;
  return [
    { text: `  ${placeText(place)}: ${caseName(result)}` },
    { text: `    expected  ${shown(outcome.expected)}` },
    { text: `    got       ${got}` },
    ...(outcome.kind === "failed" ? outcome.proof.map((line) => ({ text: `      ${line}` })) : []),
  ];
}

/** An answer as a report of failures shows it. */
function shown(answer: Answer): string {
  if (typeof answer === "boolean") return answer ? "ALLOWED" : "DENIED";
  return answer.length === 0 ? "nothing" : answer.join(", ");
}

function coverageLines(
  { schema, parts, isPartial }: Coverage,
  threshold: number | undefined,
): readonly ReportLine[] {
  const { covered, total, percent } = figuresOf(parts);
  const isBelow = percent < (threshold ?? 0);
  const wanted = isBelow ? `, expected at least ${threshold} %` : "";
  const kinds = figuresByKind(parts).map(([kind, figures]) => ({
    text: `  ${`${kind}s`.padEnd(11)}  ${figures.covered} of ${figures.total}`,
  }));
  const missing = parts
    .filter((part) => part.missing.length > 0)
    .map((part) => ({
      text: `  ${placeText(schema.placeIn(part.line, part.column))}: ${missingText(part)}`,
    }));
  const text = `coverage of ${schema.label}: ${percent} % (${covered} of ${total})${wanted}`;
  const note = "  an answer depends on too much to follow all of it: more may be covered";
  return [
    { text, tone: isBelow ? "bad" : "good" },
    ...kinds,
    ...missing,
    ...(isPartial ? [{ text: note }] : []),
  ];
}

function totalLine({ files }: TestRun): ReportLine {
  const { passed, failed } = countCases(files);
  const unrun = files.filter(({ problems }) => problems.length > 0).length;
  const others = unrun === 0 ? "" : `, ${unrun} ${unrun === 1 ? "file" : "files"} not run`;
  const isGood = failed === 0 && unrun === 0 && passed > 0;
  return { text: `${passed} passed, ${failed} failed${others}`, tone: isGood ? "good" : "bad" };
}
