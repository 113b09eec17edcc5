import { commentsIn } from "../../language/comment.ts";
import { scanToken } from "../../language/lexer.ts";
import { type Position, positionAt, type Source } from "../../language/source.ts";
import type { SchemaTree, SourceSpan } from "../../language/tree.ts";

/** A comment `// pemba-lint: allow CODE, ... -- reason`, which silences findings. */
interface AllowComment {
  readonly codes: readonly AllowedCode[];
  /** The first and the last line that it is about. */
  readonly from: number;
  readonly to: number;
}

/** A code as it stands in a comment. */
export interface AllowedCode {
  readonly text: string;
  readonly position: Position;
}

/** A comment that begins as an allow comment does, but does not go on as one. */
export interface FaultyComment {
  readonly text: string;
  readonly position: Position;
}

/**
 * The allow comments of a schema. A comment is about the line that it ends, or else about the next line
 * with code. If a member or a rule begins in that line, it is about all of this member or rule.
 */
export function allowCommentsOf(tree: SchemaTree): {
  readonly allowed: readonly AllowComment[];
  readonly faulty: readonly FaultyComment[];
} {
  const { source } = tree;
  const lastLines = lastLinesOf(tree);
  const code = new CodeBehind(source.text);
  const allowed: AllowComment[] = [];
  const faulty: FaultyComment[] = [];
  for (const span of commentsIn(source.text)) {
    const text = source.text.slice(span.start, span.end);
    const directive = /^\/\/\s*pemba-lint\b:?\s*/.exec(text)?.[0];
    if (directive === undefined) continue;
    const offset = span.start + directive.length;
    const [words = ""] = text.slice(directive.length).split(/\s--(?:\s|$)/);
    const [verb, ...codes] = wordsOf(source, words, offset);
    if (verb?.text !== "allow" || codes.length === 0) {
      faulty.push({ text: words.trim(), position: positionAt(source, span.start) });
      continue;
    }
    const from = lineOf(source, span, code);
    allowed.push({ codes, from, to: lastLines.get(from) ?? from });
  }
  return { allowed, faulty };
}

function wordsOf(source: Source, text: string, offset: number): readonly AllowedCode[] {
  return [...text.matchAll(/[^\s,]+/g)].map((match) => ({
    text: match[0],
    position: positionAt(source, offset + match.index),
  }));
}

/** Finds the code behind comments, which are asked for in their order. */
class CodeBehind {
  readonly #text: string;
  #next = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The offset of the first token behind `end`. */
  offsetBehind(end: number): number {
    // Comments that stand together have the same code behind them.
    if (this.#next < end) this.#next = scanToken(this.#text, end).start;
    return this.#next;
  }
}

/** The line that the comment is about. */
function lineOf(source: Source, { start, end }: SourceSpan, code: CodeBehind): number {
  const { line } = positionAt(source, start);
  const before = source.text.slice(source.lines[line - 1] ?? 0, start);
  if (scanToken(before, 0).kind !== "EOF") return line;
  return positionAt(source, code.offsetBehind(end)).line;
}

/** By the line in which members and rules begin: the last line of the longest of them. */
function lastLinesOf({ source, statements }: SchemaTree): ReadonlyMap<number, number> {
  const last = new Map<number, number>();
  const add = ({ start, end }: SourceSpan): void => {
    const { line } = positionAt(source, start);
    last.set(line, Math.max(last.get(line) ?? line, positionAt(source, end).line));
  };
  for (const statement of statements) {
    if (statement.kind === "entity") for (const { span } of statement.members) add(span);
    else add(statement.span);
  }
  return last;
}
