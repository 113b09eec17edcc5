import type { Coverage } from "../coverage/measure.ts";
import { placeText } from "../file/text-place.ts";
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

/** The report for people: failures with what was expected, then totals. */
export function humanReport(run: TestRun, paint: Paint): string {
  const lines = run.files.flatMap((file) => fileLines(file, paint));
  const coverage = (run.coverage ?? []).flatMap((one) => coverageLines(one, run.threshold, paint));
  return [...lines, ...coverage, totalLine(run, paint)].join("\n");
}

function fileLines(
  { path, problems, warnings, cases }: FileResult,
  paint: Paint,
): readonly string[] {
  const failed = cases.filter(({ outcome }) => outcome.kind !== "passed");
  const isGood = problems.length === 0 && failed.length === 0 && cases.length > 0;
  const state = isGood ? paint("good", "ok  ") : paint("bad", "FAIL");
  const count =
    cases.length === 0
      ? "nothing was run"
      : `${cases.length - failed.length} of ${cases.length} passed`;
  return [
    `${state} ${path}: ${count}`,
    ...warnings.map(({ place, message }) => `  ${placeText(place)}: warning: ${message}`),
    ...problems.map(({ place, message }) => `  ${placeText(place)}: ${message}`),
    ...failed.flatMap(failureLines),
  ];
}

/** A proof of what was got goes below these lines. */
function failureLines(result: CaseResult): readonly string[] {
  const { outcome, place } = result;
  if (outcome.kind === "passed") return [];
  const got = outcome.kind === "failed" ? shown(outcome.got) : `error: ${outcome.message}`;
  return [
    `  ${placeText(place)}: ${caseName(result)}`,
    `    expected  ${shown(outcome.expected)}`,
    `    got       ${got}`,
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
  paint: Paint,
): readonly string[] {
  const { covered, total, percent } = figuresOf(parts);
  const isBelow = percent < (threshold ?? 0);
  const wanted = isBelow ? `, expected at least ${threshold} %` : "";
  const kinds = figuresByKind(parts).map(
    ([kind, figures]) => `  ${`${kind}s`.padEnd(11)}  ${figures.covered} of ${figures.total}`,
  );
  const missing = parts
    .filter((part) => part.missing.length > 0)
    .map((part) => `  ${placeText(schema.placeIn(part.line, part.column))}: ${missingText(part)}`);
  return [
    paint(
      isBelow ? "bad" : "good",
      `coverage of ${schema.label}: ${percent} % (${covered} of ${total})${wanted}`,
    ),
    ...kinds,
    ...missing,
    ...(isPartial
      ? ["  an answer depends on too much to follow all of it: more may be covered"]
      : []),
  ];
}

function totalLine({ files }: TestRun, paint: Paint): string {
  const { passed, failed } = countCases(files);
  const unrun = files.filter(({ problems }) => problems.length > 0).length;
  const others = unrun === 0 ? "" : `, ${unrun} ${unrun === 1 ? "file" : "files"} not run`;
  const isGood = failed === 0 && unrun === 0 && passed > 0;
  return paint(isGood ? "good" : "bad", `${passed} passed, ${failed} failed${others}`);
}
