/** A power of two. Each place takes four bytes. */
const places = 65_536;

/**
 * Remembers which texts came lately, in a fixed amount of memory. Each text has a place, where the last one
 * that came leaves its mark. So a text may be forgotten soon. One of 65,536 texts that come to the place of
 * another one seems to come again.
 */
export class Sightings {
  readonly #marks = new Uint32Array(places);

  /** Whether the text came before; asking counts as coming. */
  comesAgain(text: string): boolean {
    const mark = markOf(text);
    const place = mark % places;
    const isKnown = this.#marks[place] === mark;
    this.#marks[place] = mark;
    return isKnown;
  }
}

/** FNV-1a over the code units. */
function markOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01_00_01_93);
  }
  return hash >>> 0;
}
