/** Characters that most terminals show in two columns. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** The columns that a text without control characters takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** The columns of a character. */
export function columnsOf(character: string): number {
  if (/\p{M}/u.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/**
 * The text in lines of at most `width` columns. A line ends at its last blank, or within a word if the
 * blank stands near its beginning.
 */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  let columns = 0;
  for (const character of text) {
    if (columns + columnsOf(character) > width && line !== "") {
      const blank = character === " " ? line.length : line.lastIndexOf(" ");
      const end = blank > line.length / 3 ? blank : line.length;
      lines.push(line.slice(0, end));
      line = line.slice(end).trimStart();
      columns = widthOf(line);
      if (character === " " && line === "") continue;
    }
    line += character;
    columns += columnsOf(character);
  }
  return [...lines, line];
}
