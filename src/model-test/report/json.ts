import type { Coverage } from "../coverage/measure.ts";
import type { PlacedMessage } from "../file/text-place.ts";
import type { CaseResult } from "../run/case-result.ts";
import { countCases, figuresByKind, figuresOf, type TestRun } from "./test-run.ts";

/** The report for programs. Times are in milliseconds. */
export function jsonReport(run: TestRun): string {
  const { files, coverage, threshold } = run;
  return JSON.stringify(
    {
      ...countCases(files),
      files: files.map(({ path, problems, warnings, cases }) => ({
        path,
        problems: problems.map(encodeMessage),
        warnings: warnings.map(encodeMessage),
        cases: cases.map(encodeCase),
      })),
      ...(coverage !== undefined && { coverage: coverage.map(encodeCoverage) }),
      ...(threshold !== undefined && { threshold }),
    },
    undefined,
    2,
  );
}

function encodeMessage({ place, message }: PlacedMessage): object {
  return { ...place, message };
}

function encodeCase({ scenario, kind, query, place, outcome, milliseconds }: CaseResult): object {
  const { kind: result, ...rest } = outcome;
  return {
    scenario,
    kind,
    query,
    ...place,
    result,
    ...rest,
    milliseconds: Math.round(milliseconds),
  };
}

function encodeCoverage({ schema, parts, isPartial }: Coverage): object {
  return {
    schema: schema.label,
    ...figuresOf(parts),
    partial: isPartial,
    kinds: Object.fromEntries(figuresByKind(parts)),
    parts: parts.map(({ kind, name, operand, line, column, missing }) => ({
      kind,
      name,
      ...(operand !== "" && { operand }),
      line,
      column,
      covered: missing.length === 0,
      missing,
    })),
  };
}
