import type { Pace, Steps } from "../base/steps.ts";

/** Of so many characters, JavaScript compares each of one text with each of the other in a few microseconds. */
const comparisonsMax = 10_000;

/** So many characters are a step: to count each would take longer than to compare it. */
const charactersOfStep = 256;

/**
 * Whether the part stands in the text. For some texts JavaScript compares nearly each character of one with each of the
 * other, and with a million of each no other request runs for minutes. So larger texts are searched in as many
 * comparisons as they have characters (Knuth, Morris, Pratt).
 */
export function* containsText(text: string, part: string, pace: Pace): Steps<boolean> {
  if (text.length * part.length <= comparisonsMax) return text.includes(part);
  if (part.length > text.length) return false;
  const borders = yield* bordersOf(part, pace);
  let matched = 0;
  for (let place = 0; place < text.length; place++) {
    if (place % charactersOfStep === 0 && pace.step()) yield;
    matched = extended(part, borders, matched, text.charCodeAt(place));
    if (matched === part.length) return true;
  }
  return false;
}

/** Of each beginning of the text, the length of its longest other beginning that is also its end. */
function* bordersOf(text: string, pace: Pace): Steps<Int32Array> {
  const borders = new Int32Array(text.length);
  let border = 0;
  for (let place = 1; place < text.length; place++) {
    if (place % charactersOfStep === 0 && pace.step()) yield;
    border = extended(text, borders, border, text.charCodeAt(place));
    borders[place] = border;
  }
  return borders;
}

/** How long the beginning of the part is that ends with the unit, where one of that length ended before it. */
function extended(part: string, borders: Int32Array, matched: number, unit: number): number {
  let length = matched;
  while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
  return part.charCodeAt(length) === unit ? length + 1 : length;
}
