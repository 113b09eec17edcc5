import {
  endOfComment,
  endOfString,
  isCommentStart,
  isQuoteCode,
  OpenStrings,
  slash,
} from "./skip.ts";
import type { SourceSpan } from "./tree.ts";

/** A string literal or a comment. */
export interface OpaqueSpan extends SourceSpan {
  readonly kind: "string" | "comment";
}

/** The comments of a text without syntax errors, in order, with those in the bodies of rules. */
export function* commentsIn(text: string): Generator<SourceSpan> {
  for (const span of opaqueSpansIn(text)) if (span.kind === "comment") yield span;
}

/** The same with the string literals of rules. */
export function* opaqueSpansIn(text: string): Generator<OpaqueSpan> {
  const open = new OpenStrings();
  let offset = 0;
  while (offset < text.length) {
    const start = offset;
    const code = text.charCodeAt(start);
    if (isQuoteCode(code)) {
      offset = endOfString(text, start, open) ?? start + 1;
      yield { kind: "string", start, end: offset };
    } else if (code === slash && isCommentStart(text, start)) {
      offset = endOfComment(text, start) ?? text.length;
      yield { kind: "comment", start, end: offset };
    } else {
      offset += 1;
    }
  }
}
