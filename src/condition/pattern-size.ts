/** A quoted text, an escape, a class, the beginning of a group, a repeat, or any other character. */
const token =
  /\\Q(?<quoted>[^]*?)(?:\\E|$)|\\(?:[pP](?:\{[^}]*\}|[^])|x(?:\{[^}]*\}|[\da-fA-F]{2})|[^])|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\((?:\?(?:P?<\w+>|[\w-]*[:)]))?|\{(?<least>\d+)(?:,(?<most>\d*))?\}|[^]/gu;

/**
 * About how many parts a pattern of RE2 has with its counted repeats written out, as it is compiled. It is
 * worked out from the text, as compiling takes time and memory for each of them. Any text has an answer.
 */
export function partsOfPattern(pattern: string): number {
  const outer: number[] = [];
  let size = 0;
  let last = 0;
  for (const { 0: text, groups = {} } of pattern.matchAll(token)) {
    const { quoted, least, most } = groups;
    if (least !== undefined) {
      const repeated = last * Math.max(1, Number(most === undefined || most === "" ? least : most));
      size += repeated - last;
      last = repeated;
    } else if (text.startsWith("(")) {
      last = 0;
      // Flags for the rest of a group end at once.
      if (text.endsWith(")")) continue;
      outer.push(size);
      size = 0;
    } else if (text === ")") {
      // A group counts as a part itself.
      last = size + 1;
      size = (outer.pop() ?? 0) + last;
    } else {
      last = quoted?.length ?? 1;
      size += last;
    }
  }
  return outer.reduce((sum, part) => sum + part, size);
}
