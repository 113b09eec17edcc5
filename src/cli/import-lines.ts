/** No element is nearly as long; a file without line ends must not be read into memory whole. */
export const maxLineBytes = 1024 * 1024;

const newline = 0x0a;

/** A line without its end, or what is left of one that is too long to be read. */
export type RawLine =
  | { readonly kind: "line"; readonly bytes: Buffer; readonly length: number }
  | { readonly kind: "overlong"; readonly length: number };

/** Splits a stream into lines; `length` counts the line end too, so that lengths add up to the size. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<RawLine, void, void> {
  let held: Buffer[] = [];
  let length = 0;
  const take = (): RawLine => {
    const line: RawLine =
      length > maxLineBytes
        ? { kind: "overlong", length }
        : { kind: "line", bytes: Buffer.concat(held), length };
    held = [];
    length = 0;
    return line;
  };
  const hold = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxLineBytes) held = [];
    else held.push(piece);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end));
      length += 1;
      yield take();
      start = end + 1;
    }
    hold(chunk.subarray(start));
  }
  if (length > 0) yield take();
}
