import type { Coverage } from "../coverage/measure.ts";
import type { MeasuredPart } from "../coverage/part-marks.ts";
import { partKinds } from "../coverage/schema-part.ts";
import type { CaseResult, FileResult } from "../run/case-result.ts";

/** All that a run of model tests found, as reports write it. */
export interface TestRun {
  readonly files: readonly FileResult[];
  /** One for each different schema. Undefined if it was not measured. */
  readonly coverage: readonly Coverage[] | undefined;
  /** The least percentage that each schema has to reach. Undefined for none. */
  readonly threshold: number | undefined;
}

/** How many assertions there are, by what became of them. */
export interface CaseCounts {
  readonly passed: number;
  /** With those that have no answer. */
  readonly failed: number;
}

export function countCases(files: readonly FileResult[]): CaseCounts {
  const all = files.flatMap(({ cases }) => cases);
  const passed = all.filter(({ outcome }) => outcome.kind === "passed").length;
  return { passed, failed: all.length - passed };
}

/** A coverage in numbers: of all parts, and of each kind. */
export interface CoverageFigures {
  readonly covered: number;
  readonly total: number;
  /** Rounded down. 100 if there is nothing to cover. */
  readonly percent: number;
}

export function figuresOf(parts: readonly MeasuredPart[]): CoverageFigures {
  const covered = parts.filter(({ missing }) => missing.length === 0).length;
  const total = parts.length;
  return { covered, total, percent: total === 0 ? 100 : Math.floor((100 * covered) / total) };
}

/** The figures of each kind of part, in the order of reports. */
export function figuresByKind(
  parts: readonly MeasuredPart[],
): readonly (readonly [MeasuredPart["kind"], CoverageFigures])[] {
  return partKinds.map((kind) => [kind, figuresOf(parts.filter((part) => part.kind === kind))]);
}

/** What a run ends with: 0 passed, 1 failed or below the threshold, 2 not run. */
export function exitStatusOf({ files, coverage, threshold }: TestRun): 0 | 1 | 2 {
  const { passed, failed } = countCases(files);
  if (passed + failed === 0 || files.some(({ problems }) => problems.length > 0)) return 2;
  const isBelow = (coverage ?? []).some(({ parts }) => figuresOf(parts).percent < (threshold ?? 0));
  return failed > 0 || isBelow ? 1 : 0;
}

/** How a report names an assertion. */
export function caseName({ scenario, query }: CaseResult): string {
  return scenario === "" ? query : `${scenario}: ${query}`;
}

/** What is missing to cover a part, as a sentence. */
export function missingText({ kind, name, operand, missing }: MeasuredPart): string {
  const what = operand === "" ? `${kind} \`${name}\`` : `operand \`${operand}\` of \`${name}\``;
  const [first, second] = missing;
  if (first === undefined) return `${what} is covered`;
  if (first === "read") return `${what}: no answer depends on a value of it`;
  if (kind === "relation") return `${what} never decides an answer by a tuple`;
  const side = first === "allowed" ? "by holding" : "by not holding";
  return second === undefined
    ? `${what} never decides an answer ${side}`
    : `${what} never decides an answer`;
}
