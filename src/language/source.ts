import {
  carriageReturn,
  endOfComment,
  endOfString,
  isCommentStart,
  isQuoteCode,
  lineFeed,
  slash,
} from "./skip.ts";

/**
 * A place in a text: line and column count from 1, columns in UTF-16 units as editors do.
 * `field` is the JSON path of that text in the request when it is not the schema text itself.
 */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly field: string | undefined;
}

export const startOfText: Position = { line: 1, column: 1, field: undefined };

/** As it is written by clients that escape twice. A pattern is replaced in half the time of a text. */
const escapedBreak = /\\n/g;

/** A text to parse, with what is needed to turn offsets in it into positions. */
export interface Source {
  /** As long as the text that was given, so offsets and positions hold in both. */
  readonly text: string;
  /** JSON path of the text in the request; undefined for the schema text itself. */
  readonly field: string | undefined;
  /** Offset at which each line begins, ascending. */
  readonly lines: readonly number[];
}

/** Prepares a text for parsing. `field` as in {@link Source}. */
export function createSource(text: string, field?: string): Source {
  const broken = breakEscapedLines(text);
  return { text: broken, field, lines: lineStarts(broken) };
}

/** The position of the 0-based offset `offset`, which lies in the text or at its end. */
export function positionAt(source: Source, offset: number): Position {
  let low = 0;
  let high = source.lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((source.lines[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  const column = offset - (source.lines[low] ?? 0) + 1;
  return { line: low + 1, column, field: source.field };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let offset = 0; offset < text.length; offset++) {
    const code = text.charCodeAt(offset);
    if (code !== lineFeed && code !== carriageReturn) continue;
    if (code === carriageReturn && text.charCodeAt(offset + 1) === lineFeed) offset += 1;
    starts.push(offset + 1);
  }
  return starts;
}

/**
 * Clients that escape twice send a backslash and an `n` for each line break. Outside of string
 * literals, where it is an escape of the condition language, such a pair becomes a blank and a
 * line break: the text keeps its length, so no position moves.
 */
function breakEscapedLines(text: string): string {
  if (!text.includes("\\n")) return text;
  let result = "";
  let copied = 0;
  let offset = 0;
  while (offset < text.length) {
    const code = text.charCodeAt(offset);
    if (isQuoteCode(code)) {
      const end = endOfString(text, offset) ?? offset + 1;
      result += text.slice(copied, offset).replace(escapedBreak, " \n") + text.slice(offset, end);
      offset = end;
      copied = end;
    } else if (code === slash && isCommentStart(text, offset)) {
      offset = endOfEscapedComment(text, offset);
    } else {
      offset += 1;
    }
  }
  return result + text.slice(copied).replace(escapedBreak, " \n");
}

/** A line comment ends at an escaped line break too, or it would swallow the rest of the schema. */
function endOfEscapedComment(text: string, offset: number): number {
  const end = endOfComment(text, offset) ?? text.length;
  if (text.startsWith("/*", offset)) return end;
  const escaped = text.indexOf("\\n", offset);
  return escaped === -1 ? end : Math.min(escaped, end);
}
