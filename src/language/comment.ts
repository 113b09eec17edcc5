import { endOfComment, endOfString, isCommentStart, isQuoteCode, slash } from "./skip.ts";
import type { SourceSpan } from "./tree.ts";

/** The comments of a text without syntax errors, in order, with those in the bodies of rules. */
export function* commentsIn(text: string): Generator<SourceSpan> {
  let offset = 0;
  while (offset < text.length) {
    const code = text.charCodeAt(offset);
    if (isQuoteCode(code)) {
      offset = endOfString(text, offset) ?? offset + 1;
    } else if (code === slash && isCommentStart(text, offset)) {
      const end = endOfComment(text, offset) ?? text.length;
      yield { start: offset, end };
      offset = end;
    } else {
      offset += 1;
    }
  }
}
