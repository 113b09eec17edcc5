import type { Severity } from "../authoring/lint/inspection.ts";
import { lintSchemaTextSteps } from "../authoring/lint/lint.ts";
import { PembaError } from "../base/error.ts";
import type { Steps } from "../base/steps.ts";
import { compileSchemaTextSteps } from "../language/compile.ts";
import { scanToken } from "../language/lexer.ts";
import { createSource, type Source } from "../language/source.ts";
import type { SourceSpan } from "../language/tree.ts";
import { textMax } from "./analysis.ts";

/** What is wrong or doubtful at a place of a text. */
export interface EditorProblem {
  /** The word that is meant. It is not empty, except in an empty text. */
  readonly span: SourceSpan;
  readonly severity: Severity;
  /** A code of errors, such as `SCHEMA_PARSE`, or of lint, such as `unused-entity`. */
  readonly code: string;
  readonly message: string;
  /** The page of docs/ that explains the code, with its section. */
  readonly page: string;
}

/** What is looked for. Lint plans each question, which takes seconds for a schema of hundreds of entities. */
export type ProblemDepth = "mistakes" | "all";

/**
 * The mistakes of the text of a schema, or if it compiles and all is looked for, what lint says of it. In the order
 * in which they were found.
 */
export function* schemaProblems(
  text: string,
  depth: ProblemDepth = "all",
): Steps<readonly EditorProblem[]> {
  if (text.length > textMax) return [tooLong(text)];
  const source = createSource(text);
  yield;
  try {
    if (depth === "mistakes") {
      yield* compileSchemaTextSteps(text);
      return [];
    }
    const findings = yield* lintSchemaTextSteps(text);
    return findings.map(({ code, severity, position, endColumn, message }) => ({
      span: {
        start: offsetOf(source, position),
        end: offsetOf(source, { ...position, column: endColumn }),
      },
      severity,
      code,
      message,
      page: `lint.md#${code}`,
    }));
  } catch (error) {
    if (!(error instanceof PembaError) || error.details.length === 0) throw error;
    return error.details.map(({ line = 1, column = 1, message }) => ({
      span: wordAt(source.text, offsetOf(source, { line, column })),
      severity: "error",
      code: error.code,
      message,
      page: "language.md",
    }));
  }
}

/** What is said of a text that the editor does not look at. */
function tooLong(text: string): EditorProblem {
  return {
    span: { start: 0, end: Math.min(text.length, 1) },
    severity: "warning",
    code: "TEXT_TOO_LONG",
    message: `the text has ${text.length} characters: the editor looks at texts of at most ${textMax}`,
    page: "editors.md",
  };
}

/** The offset of a line and a column, which count from 1. */
export function offsetOf(
  { text, lines }: Source,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  return Math.min((lines[line - 1] ?? text.length) + column - 1, text.length);
}

/** The word at an offset up to the end of its line. At the end of the text, its last character. */
export function wordAt(text: string, offset: number): SourceSpan {
  const { start, end } = scanToken(text, offset);
  if (start === text.length) {
    const last = text.trimEnd().length;
    return { start: Math.max(0, last - 1), end: last };
  }
  const [line = ""] = /^[^\r\n]*/.exec(text.slice(start, end)) ?? [];
  return { start, end: start + line.length };
}
