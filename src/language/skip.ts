export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
export const slash = 0x2f;
const backslash = 0x5c;

/** Whether a comment begins at `offset`: `//` to the end of the line, or `/*` to its end. */
export function isCommentStart(text: string, offset: number): boolean {
  if (text.charAt(offset) !== "/") return false;
  const next = text.charAt(offset + 1);
  return next === "/" || next === "*";
}

/**
 * The offset behind the comment that begins at `offset`. For a line comment, it is the offset of
 * the line break. Undefined if a `/*` is not closed. Comments do not nest.
 */
export function endOfComment(text: string, offset: number): number | undefined {
  if (text.startsWith("/*", offset)) {
    const end = text.indexOf("*/", offset + 2);
    return end === -1 ? undefined : end + 2;
  }
  let end = offset + 2;
  while (end < text.length && !isLineBreak(text.charCodeAt(end))) end += 1;
  return end;
}

/** Whether the character begins a string literal. */
export function isQuoteCode(code: number): boolean {
  return code === 0x22 || code === 0x27;
}

/**
 * What a pass over a text learned of strings that are not closed. Without it, a pass would search the rest of a
 * line again at each quote of it.
 */
export class OpenStrings {
  readonly #searched = new Map<string, number>();

  /** Whether a string of this kind was searched from before `offset` to behind it, and not closed. */
  has(kind: string, offset: number): boolean {
    return offset < (this.#searched.get(kind) ?? 0);
  }

  add(kind: string, end: number): void {
    this.#searched.set(kind, end);
  }
}

/**
 * The offset behind the string literal whose opening quote is at `offset`: single or double quotes,
 * alone or tripled, raw with an `r` before them. Undefined if it is not closed. `open` belongs to one
 * pass over the text from its beginning to its end.
 */
export function endOfString(text: string, offset: number, open: OpenStrings): number | undefined {
  const quote = text.charAt(offset);
  const raw = isRaw(text, offset);
  const triple = text.startsWith(quote.repeat(3), offset);
  const close = triple ? quote.repeat(3) : quote;
  const kind = raw ? `r${close}` : close;
  if (open.has(kind, offset)) return undefined;
  let end = offset + close.length;
  const first = close.charCodeAt(0);
  while (end < text.length) {
    const code = text.charCodeAt(end);
    if (code === first && text.startsWith(close, end)) return end + close.length;
    if (!triple && isLineBreak(code)) break;
    end += code === backslash && !raw ? 2 : 1;
  }
  open.add(kind, end);
  return undefined;
}

/**
 * The prefix of a raw string is `r`, `rb` or `br` in any case. It must not be the end of a name.
 */
function isRaw(text: string, quote: number): boolean {
  if (!/[bBrR]/.test(text.charAt(quote - 1))) return false;
  const prefix = /(?:^|[^A-Za-z0-9_])([bBrR]{1,2})$/.exec(
    text.slice(Math.max(0, quote - 3), quote),
  );
  return prefix?.[1] !== undefined && /r/i.test(prefix[1]);
}

function isLineBreak(code: number): boolean {
  return code === lineFeed || code === carriageReturn;
}
