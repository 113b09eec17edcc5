/** A quoted text, an escape, a class, the beginning of a group, a repeat, or any other character. */
const token =
  /\\Q(?<quoted>[^]*?)(?:\\E|$)|\\(?:[pP](?:\{[^}]*\}|[^])|x(?:\{[^}]*\}|[\da-fA-F]{2})|[^])|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\((?:\?(?:P?<\w+>|[\w-]*[:)]))?|\{(?<least>\d+)(?:,(?<most>\d*))?\}|[^]/gu;

/** Reads the tables of Unicode, which takes as long as to compile so many parts. */
const tableParts = 50;

/** To ignore case, each character of a range is looked at. So many take as long as to compile a part. */
const foldedOfPart = 100;

/** Letters beyond these have no other case. */
const [firstFolded, lastFolded] = [0x41, 0x1e943] as const;

const ignoresCase = /\(\?[\w-]*i/;
const character = String.raw`\\x\{[\da-fA-F]{1,6}\}|\\x[\da-fA-F]{2}|\\[0-7]{1,3}|\\?[^]`;
const range = new RegExp(`(?<=(${character}))-(?=(${character}))`, "gu");

/**
 * About how many parts a pattern of RE2 has with its counted repeats written out, as it is compiled. Classes that take
 * long count as several. It is worked out from the text, as compiling takes time and memory for each of them. Any text
 * has an answer.
 */
export function partsOfPattern(pattern: string): number {
  return writtenOut(pattern) + partsOfClasses(pattern);
}

/** Of a class that is repeated, the characters are looked at once. */
function partsOfClasses(pattern: string): number {
  const tables = pattern.match(/\\[pP]/g)?.length ?? 0;
  return tables * tableParts + Math.floor(foldedIn(pattern) / foldedOfPart);
}

/** How many characters its ranges have where case is ignored. */
function foldedIn(pattern: string): number {
  if (!ignoresCase.test(pattern)) return 0;
  let characters = 0;
  for (const [, from = "", to = ""] of pattern.matchAll(range)) {
    const first = Math.max(codePointOf(from), firstFolded);
    const last = Math.min(codePointOf(to), lastFolded);
    characters += Math.max(0, last - first + 1);
  }
  return characters;
}

/** Of a letter behind a backslash it is that of the letter, which is near enough. */
function codePointOf(text: string): number {
  if (text.startsWith("\\x")) return Number.parseInt(text.replaceAll(/[\\x{}]/g, ""), 16);
  if (/^\\[0-7]/.test(text)) return Number.parseInt(text.slice(1), 8);
  return text.replace(/^\\/, "").codePointAt(0) ?? 0;
}

function writtenOut(pattern: string): number {
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
