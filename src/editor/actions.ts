import { inspections } from "../authoring/lint/inspections.ts";
import { PembaError } from "../base/error.ts";
import type { Steps } from "../base/steps.ts";
import { suggestedIn } from "../base/suggest.ts";
import { operationsOf, permissionsOf } from "../language/operand.ts";
import { parseSchemaSteps } from "../language/parse.ts";
import type { OperationNode, SourceSpan } from "../language/tree.ts";
import type { TextEdit } from "./edit.ts";
import { type EditorProblem, offsetOf } from "./problems.ts";

/** A change of a text that mends or silences one problem. */
export interface EditorAction {
  readonly title: string;
  readonly problem: EditorProblem;
  /** They do not overlap. */
  readonly edits: readonly TextEdit[];
  /** Whether it mends the problem without a choice. */
  readonly isMend: boolean;
}

/** What can be done about a problem of the text of a schema, the best first. */
export function* actionsFor(text: string, problem: EditorProblem): Steps<readonly EditorAction[]> {
  const mend = yield* mendOf(text, problem);
  const isLint = inspections.some(({ code }) => code === problem.code);
  return [
    ...(mend === undefined ? [] : [{ ...mend, problem, isMend: true }]),
    ...(isLint ? [{ ...silencing(text, problem), problem, isMend: false }] : []),
  ];
}

type Mend = Pick<EditorAction, "title" | "edits">;

function* mendOf(text: string, problem: EditorProblem): Steps<Mend | undefined> {
  const meant = suggestedIn(problem.message);
  if (meant !== undefined) return replacement(text, problem.span, meant);
  if (problem.code === "needless-allow") return removal(text, problem.span);
  return problem.code === "mixed-operators" ? yield* grouping(text, problem.span) : undefined;
}

function replacement(text: string, span: SourceSpan, meant: string): Mend {
  // The word of a type of lists is followed by its brackets.
  const isList = meant.endsWith("[]") && text.startsWith("[]", span.end);
  const word = isList ? meant.slice(0, -2) : meant;
  return { title: `Replace by \`${meant}\``, edits: [{ span, text: word }] };
}

/** Takes a code out of an allow comment, or the comment if it has no other code. */
function removal(text: string, { start, end }: SourceSpan): Mend {
  const code = text.slice(start, end);
  const title = `Remove \`${code}\` from the comment`;
  const comment = text.lastIndexOf("//", start);
  const lineEnd = /\r?\n|$/g;
  lineEnd.lastIndex = end;
  const close = lineEnd.exec(text)?.index ?? text.length;
  const [words = ""] = text.slice(start, close).split(/\s--(?:\s|$)/);
  const [behind = ""] = /^[\s,]*/.exec(words.slice(code.length)) ?? [];
  const isLast = behind.length === words.length - code.length;
  let before = start;
  while (/[\s,]/.test(text.charAt(before - 1))) before -= 1;
  const isFirst = /\ballow$/.test(text.slice(Math.max(comment, before - 10), before));
  if (isFirst && isLast)
    return { title, edits: [{ span: wholeComment(text, comment, close), text: "" }] };
  const span = isLast ? { start: before, end } : { start, end: end + behind.length };
  return { title, edits: [{ span, text: "" }] };
}

/** A comment with the blanks before it, or if nothing else is in its line, with those behind it. */
function wholeComment(text: string, start: number, end: number): SourceSpan {
  const line = Math.max(text.lastIndexOf("\n", start - 1), text.lastIndexOf("\r", start - 1)) + 1;
  const before = text.slice(line, start);
  if (before.trim() !== "") return { start: line + before.trimEnd().length, end };
  const [blanks = ""] = /^\s*/.exec(text.slice(end)) ?? [];
  return { start, end: end + blanks.length };
}

/** Puts parentheses around what the operator applies to, as it is read. */
function* grouping(text: string, span: SourceSpan): Steps<Mend | undefined> {
  const operation = yield* operationAt(text, span.start);
  if (operation === undefined) return undefined;
  const { start, end } = operation.left.span;
  return {
    title: "Put parentheses around what is read first",
    edits: [
      { span: { start, end: start }, text: "(" },
      { span: { start: end, end }, text: ")" },
    ],
  };
}

function* operationAt(text: string, offset: number): Steps<OperationNode | undefined> {
  try {
    const tree = yield* parseSchemaSteps(text);
    for (const { permission } of permissionsOf(tree)) {
      const { start, end } = permission.span;
      if (offset < start || offset >= end) continue;
      for (const operation of operationsOf(permission.expression)) {
        if (offsetOf(tree.source, operation.position) === offset) return operation;
      }
    }
  } catch (error) {
    // The text has changed since the problem was found.
    if (!(error instanceof PembaError)) throw error;
  }
  return undefined;
}

/** Allows the code by a comment above the line, or in the allow comment that is there. */
function silencing(text: string, { code, span }: EditorProblem): Mend {
  const title = `Allow \`${code}\` here`;
  const line =
    Math.max(text.lastIndexOf("\n", span.start - 1), text.lastIndexOf("\r", span.start - 1)) + 1;
  const [indent = ""] = /^[ \t]*/.exec(text.slice(line, span.start)) ?? [];
  const above =
    /(?:^|[\r\n])[ \t]*\/\/\s*pemba-lint\b:?\s*allow\s+(?=[^\s-])[^\r\n]*(?:\r\n|\r|\n)$/.exec(
      text.slice(Math.max(0, line - 1_000), line),
    );
  if (above !== null) {
    const [head = ""] = /^[\s\S]*?\ballow\s+/.exec(above[0]) ?? [];
    const at = line - above[0].length + head.length;
    return { title, edits: [{ span: { start: at, end: at }, text: `${code}, ` }] };
  }
  const at = line + indent.length;
  return {
    title,
    edits: [{ span: { start: at, end: at }, text: `// pemba-lint: allow ${code}\n${indent}` }],
  };
}
