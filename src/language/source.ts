import {
  carriageReturn,
  endOfComment,
  endOfString,
  isCommentStart,
  isQuoteCode,
  lineFeed,
  OpenStrings,
  slash,
} from "./skip.ts";

/**
 * A position in a text. Lines and columns count from 1, columns in UTF-16 units as in editors.
 * `field` is the JSON path of the text in the request, if it is not the schema text itself.
 */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly field: string | undefined;
}

export const startOfText: Position = { line: 1, column: 1, field: undefined };

/**
 * The text of a line break that a client escaped twice. A pattern takes half the time of a string.
 */
const escapedBreak = /\\n/g;

/** A text to parse, with the starts of its lines to turn offsets into positions. */
export interface Source {
  /** As long as the given text, so offsets and positions are valid in both. */
  readonly text: string;
  /** The JSON path of the text in the request. Undefined for the schema text itself. */
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
 * Replaces line breaks that a client escaped twice: a backslash and an `n` become a blank and a
 * line break. In string literals they stay, because there they are an escape of the condition
 * language. The length stays the same, so positions do not move.
 */
function breakEscapedLines(text: string): string {
  if (!text.includes("\\n")) return text;
  const open = new OpenStrings();
  let result = "";
  let copied = 0;
  let offset = 0;
  while (offset < text.length) {
    const code = text.charCodeAt(offset);
    if (isQuoteCode(code)) {
      const end = endOfString(text, offset, open) ?? offset + 1;
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

/** A line comment ends at an escaped line break too, or it would include the rest of the schema. */
function endOfEscapedComment(text: string, offset: number): number {
  const end = endOfComment(text, offset) ?? text.length;
  if (text.startsWith("/*", offset)) return end;
  const escaped = text.slice(offset, end).indexOf("\\n");
  return escaped === -1 ? end : offset + escaped;
}
