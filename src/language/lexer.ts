import { commentsIn } from "./comment.ts";
import {
  endOfComment,
  endOfString,
  isCommentStart,
  isQuoteCode,
  OpenStrings,
  slash,
} from "./skip.ts";
import { keywords, punctuation, type Token } from "./token.ts";

const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The first token at or behind `offset`. Blanks, line breaks and comments before it are skipped. A
 * line break has no meaning, because every statement begins with a keyword. `open` as in
 * {@link endOfString}, for a pass over a text that may have strings that are not closed.
 */
export function scanToken(text: string, offset: number, open?: OpenStrings): Token {
  let start = offset;
  for (;;) {
    if (isBlank(text.charCodeAt(start))) {
      start += 1;
    } else if (text.charCodeAt(start) === slash && isCommentStart(text, start)) {
      const end = endOfComment(text, start);
      if (end === undefined) return { kind: "ILLEGAL", start, end: text.length };
      start = end;
    } else {
      return tokenAt(text, start, open);
    }
  }
}

/**
 * The offset of the brace that closes a rule body. The body begins at `offset`, right behind its
 * opening brace. Braces in strings and comments do not count. Undefined if there is no such brace.
 */
export function endOfRuleBody(text: string, offset: number): number | undefined {
  const open = new OpenStrings();
  let depth = 0;
  let end = offset;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (isQuoteCode(code)) {
      end = endOfString(text, end, open) ?? end + 1;
    } else if (code === slash && isCommentStart(text, end)) {
      end = endOfComment(text, end) ?? text.length;
    } else {
      if (code === openBrace) depth += 1;
      if (code === closeBrace) {
        if (depth === 0) return end;
        depth -= 1;
      }
      end += 1;
    }
  }
  return undefined;
}

/** Replaces the comments of a rule body by blanks. The length and the lines stay the same. */
export function blankComments(body: string): string {
  if (!body.includes("/")) return body;
  let result = "";
  let copied = 0;
  for (const { start, end } of commentsIn(body)) {
    const blank = body.slice(start, end).replaceAll(/[^\r\n]/g, " ");
    result += body.slice(copied, start) + blank;
    copied = end;
  }
  return result + body.slice(copied);
}

function tokenAt(text: string, start: number, open: OpenStrings | undefined): Token {
  if (start >= text.length) return { kind: "EOF", start, end: start };
  const character = text.charAt(start);
  if (isLetter(text.charCodeAt(start))) {
    let end = start + 1;
    while (isLetter(text.charCodeAt(end))) end += 1;
    return { kind: keywords.get(text.slice(start, end)) ?? "IDENT", start, end };
  }
  if (isDigit(text.charCodeAt(start))) return numberAt(text, start);
  if (isQuoteCode(text.charCodeAt(start))) {
    const end = endOfString(text, start, open ?? new OpenStrings());
    if (end !== undefined) return { kind: "STRING", start, end };
  }
  const kind = punctuation.get(character);
  if (kind !== undefined) return { kind, start, end: start + 1 };
  const width = (text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1;
  return { kind: "ILLEGAL", start, end: start + width };
}

function numberAt(text: string, start: number): Token {
  let end = start + 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  if (text.charAt(end) !== ".") return { kind: "INTEGER", start, end };
  end += 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return { kind: "DOUBLE", start, end };
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
