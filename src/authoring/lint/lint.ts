import { runThrough, type Steps } from "../../base/steps.ts";
import { suggest } from "../../base/suggest.ts";
import { compileSchemaSteps } from "../../language/compile.ts";
import { scanToken } from "../../language/lexer.ts";
import { parseSchemaSteps } from "../../language/parse.ts";
import { scopeOf } from "../../language/scope.ts";
import type { Position, Source } from "../../language/source.ts";
import type { SchemaTree } from "../../language/tree.ts";
import { lower } from "../../plan/passes/1-lower.ts";
import { type AllowedCode, allowCommentsOf } from "./allow-comment.ts";
import type { LintedSchema, Severity } from "./inspection.ts";
import { commentFaults, inspections } from "./inspections.ts";
import { LineSet } from "./lines.ts";
import { surveyPlans } from "./survey.ts";

/** What lint says of a place of a schema. */
export interface LintFinding {
  /** A section of docs/lint.md. */
  readonly code: string;
  readonly severity: Severity;
  readonly position: Position;
  /** The column behind the word at the position, in the same line. */
  readonly endColumn: number;
  readonly message: string;
}

/**
 * Lists what is legal but doubtful in the text of a schema, in the order of the text. Throws
 * SCHEMA_PARSE or SCHEMA_COMPILE if it is not a schema.
 */
export function lintSchemaText(text: string): readonly LintFinding[] {
  return runThrough(lintSchemaTextSteps(text));
}

/** The same in steps, so that an editor can do other work in between. */
export function* lintSchemaTextSteps(text: string): Steps<readonly LintFinding[]> {
  const tree = yield* parseSchemaSteps(text);
  const schema = yield* compileSchemaSteps(tree);
  const network = yield* lower(schema);
  const survey = yield* surveyPlans(schema, network);
  const linted = { tree, scope: scopeOf(tree), schema, network, survey };
  const findings = yield* findingsOf(linted);
  return silence(tree, findings).toSorted(byPlace);
}

function* findingsOf(linted: LintedSchema): Steps<readonly LintFinding[]> {
  const findings: LintFinding[] = [];
  for (const { code, severity, find } of inspections) {
    for (const { position, message } of find(linted)) {
      const endColumn = endColumnOf(linted.tree.source, position);
      findings.push({ code, severity, position, endColumn, message });
    }
    yield;
  }
  return findings;
}

/** Leaves out what comments allow, and adds what is wrong with the comments. */
function silence(tree: SchemaTree, findings: readonly LintFinding[]): readonly LintFinding[] {
  const { allowed, faulty } = allowCommentsOf(tree);
  // A text may have as many comments as findings.
  const allowedLines = linesByCode(
    allowed.flatMap(({ codes, from, to }) => codes.map(({ text }) => ({ code: text, from, to }))),
  );
  const foundLines = linesByCode(
    findings.map(({ code, position: { line } }) => ({ code, from: line, to: line })),
  );
  const left = findings.filter(
    ({ code, position: { line } }) =>
      allowedLines.get(code)?.meets({ from: line, to: line }) !== true,
  );
  const faults = faulty.map(({ text, position }) => {
    const message = `\`${text}\` is not understood, expected \`allow\` and a code`;
    return commentFinding("unknown-code", { text: "//", position }, message);
  });
  const needless = allowed
    .flatMap(({ codes, ...lines }) =>
      codes.filter(({ text }) => foundLines.get(text)?.meets(lines) !== true),
    )
    .map((code) =>
      knownCodes.has(code.text)
        ? commentFinding("needless-allow", code, `there is no \`${code.text}\` to allow here`)
        : commentFinding("unknown-code", code, unknownMessage(code.text)),
    );
  return [...left, ...faults, ...needless];
}

const knownCodes = new Set(inspections.map(({ code }) => code));

function unknownMessage(code: string): string {
  return `\`${code}\` is not a code of lint${suggest(code, knownCodes)}`;
}

function linesByCode(
  places: readonly { readonly code: string; readonly from: number; readonly to: number }[],
): ReadonlyMap<string, LineSet> {
  const byCode = Map.groupBy(places, ({ code }) => code);
  return new Map([...byCode].map(([code, ranges]) => [code, new LineSet(ranges)]));
}

function commentFinding(
  code: keyof typeof commentFaults,
  { text, position }: AllowedCode,
  message: string,
): LintFinding {
  const severity = commentFaults[code];
  return { code, severity, position, endColumn: position.column + text.length, message };
}

function endColumnOf({ text, lines }: Source, { line, column }: Position): number {
  const { start, end } = scanToken(text, (lines[line - 1] ?? 0) + column - 1);
  return column + end - start;
}

function byPlace(one: LintFinding, other: LintFinding): number {
  const { position: a } = one;
  const { position: b } = other;
  return a.line - b.line || a.column - b.column || (one.code < other.code ? -1 : 1);
}
