import type { SourceSpan } from "../language/tree.ts";

/**
 * The places of a text that a file holds with other blanks: indented, folded or in quotes. Offsets of blanks may
 * be off by some blanks.
 */
export class ScalarMap {
  /** For each offset of the text, and for its end, the offset in the file. */
  readonly #places: Int32Array;
  readonly #text: string;

  private constructor(places: Int32Array, text: string) {
    this.#places = places;
    this.#text = text;
  }

  /**
   * Finds the characters of `text` in the part of the file. Undefined if it is written with escapes or other
   * characters.
   */
  static of(file: string, part: SourceSpan, text: string): ScalarMap | undefined {
    const places = new Int32Array(text.length + 1);
    let place = part.start;
    for (let offset = 0; offset < text.length; offset++) {
      const code = text.charCodeAt(offset);
      while (place < part.end && file.charCodeAt(place) !== code && isBlank(file.charCodeAt(place)))
        place += 1;
      const isFound = place < part.end && file.charCodeAt(place) === code;
      // A line break that folding turned into a blank, or removed at the end.
      if (!isFound && !isBlank(code)) return undefined;
      places[offset] = place;
      if (isFound) place += 1;
    }
    places[text.length] = place;
    return new ScalarMap(places, text);
  }

  /** The offset in the file. */
  toFile(offset: number): number {
    return this.#places[Math.min(offset, this.#places.length - 1)] ?? 0;
  }

  /** The span in the file of a part of the text. */
  spanInFile({ start, end }: SourceSpan): SourceSpan {
    const first = this.toFile(start);
    if (start === end) return { start: first, end: first };
    // Behind a blank, the next character says where the blanks end.
    const isBlankEnd = isBlank(this.#text.charCodeAt(end - 1));
    return { start: first, end: isBlankEnd ? this.toFile(end) : this.toFile(end - 1) + 1 };
  }

  /** The offset in the text of an offset in the file. Undefined if it is outside of the text. */
  toText(place: number): number | undefined {
    const last = this.#places.length - 1;
    if (place < this.toFile(0) || place > this.toFile(last)) return undefined;
    let low = 0;
    let high = last;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.toFile(middle) < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}
