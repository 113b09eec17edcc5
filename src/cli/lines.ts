const newline = 0x0a;

/** A line without its end, or the length of one that is too long. */
export type RawLine =
  | { readonly kind: "line"; readonly bytes: Buffer; readonly length: number }
  | { readonly kind: "overlong"; readonly length: number };

/**
 * Splits a stream into lines of at most `maxBytes` bytes. `length` includes the line end, so that the lengths add up to the
 * size.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<RawLine, void, void> {
  let held: Uint8Array[] = [];
  let length = 0;
  const take = (): RawLine => {
    const line: RawLine =
      length > maxBytes
        ? { kind: "overlong", length }
        : { kind: "line", bytes: Buffer.concat(held), length };
    held = [];
    length = 0;
    return line;
  };
  const hold = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > maxBytes) held = [];
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
