import { Pace, type Steps } from "../../base/steps.ts";
import { commentsIn } from "../../language/comment.ts";
import { scanToken } from "../../language/lexer.ts";
import type { TokenKind } from "../../language/token.ts";
import type { SchemaTree, SourceSpan } from "../../language/tree.ts";

/** A comment, and how it stood between two words. */
export interface WordComment {
  /** As it was written, without blanks behind a line comment. */
  readonly text: string;
  /** Whether it goes to the end of its line. */
  readonly isLine: boolean;
  /** Whether it is the first in its line. */
  readonly startsLine: boolean;
  /** Whether it is the last in its line. */
  readonly endsLine: boolean;
  /** Whether a blank line stood before it. */
  readonly isApart: boolean;
}

/** A word of a schema: a token, or the whole body of a rule. Semicolons are no words. */
export interface SchemaWord {
  readonly kind: TokenKind | "BODY";
  readonly text: string;
  /** The comments before it. */
  readonly comments: readonly WordComment[];
  /** Whether a blank line stood between it and what is before it, a word or a comment. */
  readonly isApart: boolean;
}

/** The words of a schema in order, and at last the end of the text. Only blanks are lost. */
export function* wordsOf({
  source: { text },
  statements,
}: SchemaTree): Steps<readonly SchemaWord[]> {
  const bodies = new Map(
    statements.flatMap((statement) =>
      statement.kind === "rule" ? [[statement.body.offset, statement.body.text] as const] : [],
    ),
  );
  const words: SchemaWord[] = [];
  const pace = new Pace();
  let end = 0;
  for (;;) {
    if (pace.step()) yield;
    const body = bodies.get(end);
    if (body !== undefined) {
      bodies.delete(end);
      end += body.length;
      words.push({ kind: "BODY", text: body, comments: [], isApart: false });
      continue;
    }
    let token = scanToken(text, end);
    while (token.kind === "SEMICOLON") {
      if (pace.step()) yield;
      token = scanToken(text, token.end);
    }
    const gap = yield* gapOf(text.slice(end, token.start), end === 0);
    words.push({ kind: token.kind, text: text.slice(token.start, token.end), ...gap });
    if (token.kind === "EOF") return words;
    end = token.end;
  }
}

/** The comments of a gap between two words, and whether a blank line stands at its end. */
function* gapOf(gap: string, isStart: boolean): Steps<Pick<SchemaWord, "comments" | "isApart">> {
  const pace = new Pace();
  const spans: SourceSpan[] = [];
  for (const span of commentsIn(gap)) {
    if (pace.step()) yield;
    spans.push(span);
  }
  const comments: WordComment[] = [];
  let end = 0;
  for (const [index, span] of spans.entries()) {
    if (pace.step()) yield;
    const before = lineBreaksIn(gap.slice(end, span.start));
    const startsLine = before > 0 || (isStart && index === 0);
    const text = gap.slice(span.start, span.end);
    const isLine = text.startsWith("//");
    end = span.end;
    const after = gap.slice(end, spans[index + 1]?.start);
    comments.push({
      text: isLine ? text.trimEnd() : text.replaceAll(/\r\n?/g, "\n"),
      isLine,
      startsLine,
      endsLine: isLine || lineBreaksIn(after) > 0,
      isApart: before > 1,
    });
  }
  return { comments, isApart: lineBreaksIn(gap.slice(end)) > 1 };
}

/** The line breaks of a text: 2 if there are more. */
function lineBreaksIn(text: string): number {
  const lineBreak = /\r\n|\r|\n/g;
  if (!lineBreak.test(text)) return 0;
  return lineBreak.test(text) ? 2 : 1;
}
