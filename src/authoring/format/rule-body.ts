import { Pace, type Steps } from "../../base/steps.ts";
import { opaqueSpansIn } from "../../language/comment.ts";
import type { SourceSpan } from "../../language/tree.ts";

const indent = "  ";

/** The body of a rule as it is laid out. */
export interface BodyLayout {
  readonly text: string;
  /** Whether it stands on lines of its own, between those of the braces. */
  readonly hasOwnLines: boolean;
}

/**
 * Lays the body of a rule out. If it has a line break, it gets lines of its own, which keep their
 * indentation to each other. Strings and block comments of several lines stay as they are.
 */
export function* layOutBody(body: string): Steps<BodyLayout> {
  const text = body.trim();
  if (!/[\r\n]/.test(body)) return { text, hasOwnLines: false };
  const lead = body.slice(0, body.indexOf(text));
  const lines = yield* linesOf(text, /[\r\n]/.test(lead) ? widthOf(lead) : undefined);
  const pace = new Pace();
  let least = Infinity;
  for (const { code, width = Infinity } of lines) {
    if (pace.step()) yield;
    if (code !== "") least = Math.min(least, width);
  }
  const laidOut: string[] = [];
  for (const { code, width = least } of lines) {
    if (pace.step()) yield;
    laidOut.push(code === "" ? "" : indent + " ".repeat(Math.max(0, width - least) || 0) + code);
  }
  return { text: laidOut.join("\n"), hasOwnLines: true };
}

/** A line of a body, which goes on after a break inside a string or a block comment. */
interface BodyLine {
  readonly code: string;
  /** The width of its indentation. Undefined for a line that begins behind the brace. */
  readonly width: number | undefined;
}

function* linesOf(text: string, firstWidth: number | undefined): Steps<readonly BodyLine[]> {
  const pace = new Pace();
  const spans: SourceSpan[] = [];
  for (const span of opaqueSpansIn(text)) {
    if (pace.step()) yield;
    spans.push(span);
  }
  const lines: BodyLine[] = [];
  let start = 0;
  let width = firstWidth;
  let next = 0;
  for (const { index, 0: found } of text.matchAll(/\r\n|\r|\n/g)) {
    if (pace.step()) yield;
    while ((spans[next]?.end ?? Infinity) <= index) next += 1;
    if ((spans[next]?.start ?? Infinity) < index) continue;
    lines.push({ code: text.slice(start, index).trimEnd(), width });
    const [blanks = ""] = /^[ \t]*/.exec(text.slice(index + found.length)) ?? [];
    width = widthOf(blanks);
    start = index + found.length + blanks.length;
  }
  return [...lines, { code: text.slice(start), width }];
}

/** The width of the blanks at the end of a text. A tab counts as two blanks. */
function widthOf(text: string): number {
  let width = 0;
  for (let at = text.length - 1; text[at] === " " || text[at] === "\t"; at -= 1) {
    width += text[at] === "\t" ? indent.length : 1;
  }
  return width;
}
