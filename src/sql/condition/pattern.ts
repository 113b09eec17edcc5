/**
 * Patterns that mean the same in RE2, which rules are written in, and in Postgres: characters of
 * ASCII, `.`, classes and their repeats, groups, `|`, and `^` and `$` at the ends of an alternative.
 * The pattern is written anew for Postgres, so that no character gets another meaning: `.` does not
 * match a newline, and `\d`, `\w` and `\s` are those of ASCII. Undefined for any other pattern, and for
 * patterns that could take Postgres long to compile: repeats of groups, groups in groups, anchors in
 * groups.
 */
export function postgresPattern(pattern: string): string | undefined {
  if (pattern.length > longest) return undefined;
  const reader: Reader = { pattern, place: 0 };
  const written = readAlternatives(reader, readAlternative);
  return reader.place === pattern.length ? written : undefined;
}

interface Reader {
  readonly pattern: string;
  place: number;
}

const longest = 200;
/** Repeats are spelled out when a pattern is compiled. */
const mostRepeats = 20;

const shorthands: Readonly<Record<string, string>> = {
  d: "0-9",
  w: "0-9A-Za-z_",
  s: String.raw`\t\n\f\r `,
};

function take(reader: Reader, expected: RegExp): RegExpExecArray | undefined {
  const sticky = new RegExp(expected.source, `${expected.flags}y`);
  sticky.lastIndex = reader.place;
  const found = sticky.exec(reader.pattern);
  if (found === null) return undefined;
  reader.place = sticky.lastIndex;
  return found;
}

function readAlternatives(
  reader: Reader,
  readOne: (reader: Reader) => string | undefined,
): string | undefined {
  const alternatives: string[] = [];
  do {
    const one = readOne(reader);
    if (one === undefined) return undefined;
    alternatives.push(one);
  } while (take(reader, /\|/) !== undefined);
  return alternatives.join("|");
}

function readAlternative(reader: Reader): string | undefined {
  const start = take(reader, /\^/) === undefined ? "" : "^";
  const items = readItems(reader, (inner) => readGroup(inner) ?? readRepeated(inner));
  if (items === undefined) return undefined;
  return start + items + (take(reader, /\$/) === undefined ? "" : "$");
}

function readGroup(reader: Reader): string | undefined {
  if (take(reader, /\((?:\?:)?/) === undefined) return undefined;
  const inner = readAlternatives(reader, (within) => readItems(within, readRepeated));
  if (inner === undefined || take(reader, /\)(?![*+?{])/) === undefined) return undefined;
  return `(?:${inner})`;
}

/** At least one, since an empty alternative reads differently everywhere. */
function readItems(
  reader: Reader,
  readOne: (reader: Reader) => string | undefined,
): string | undefined {
  let written = "";
  for (let item = readOne(reader); item !== undefined; item = readOne(reader)) written += item;
  return written === "" ? undefined : written;
}

function readRepeated(reader: Reader): string | undefined {
  const atom = readCharacter(reader);
  const repeat = atom === undefined ? undefined : readRepeat(reader);
  return repeat === undefined ? undefined : `${atom}${repeat}`;
}

function readCharacter(reader: Reader): string | undefined {
  if (take(reader, /\./) !== undefined) return String.raw`[^\n]`;
  const opened = take(reader, /\[(\^?)/);
  if (opened !== undefined) return readClass(reader, opened[1] ?? "");
  const shorthand = take(reader, /\\([dws])/i)?.[1];
  if (shorthand !== undefined) {
    const isNot = shorthand !== shorthand.toLowerCase();
    return `[${isNot ? "^" : ""}${shorthands[shorthand.toLowerCase()] ?? ""}]`;
  }
  const escaped = take(reader, /\\([!-/:-@[-`{-~])/)?.[1];
  if (escaped !== undefined) return `\\${escaped}`;
  const plain = take(reader, /[A-Za-z0-9 _]/)?.[0];
  if (plain !== undefined) return plain;
  const other = take(reader, /[!"#%&',\-/:;<=>@`~]/)?.[0];
  return other === undefined ? undefined : `\\${other}`;
}

/** The inside of brackets: letters, digits, some others, shorthands, and ranges of one kind. */
function readClass(reader: Reader, not: string): string | undefined {
  let written = "";
  for (;;) {
    if (take(reader, /\]/) !== undefined) break;
    const range = take(reader, /[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]/)?.[0];
    const shorthand = range === undefined ? take(reader, /\\([dws])/)?.[1] : undefined;
    const escaped =
      (range ?? shorthand) === undefined ? take(reader, /\\([.\-+*?()|/$])/)?.[1] : undefined;
    const plain =
      (range ?? shorthand ?? escaped) === undefined
        ? take(reader, /[A-Za-z0-9 _.,@#%+/:;=~!]/)?.[0]
        : undefined;
    if (range !== undefined && range.charAt(0) > range.charAt(2)) return undefined;
    const part =
      range ??
      (shorthand === undefined ? undefined : shorthands[shorthand]) ??
      (escaped === undefined ? plain : `\\${escaped}`);
    if (part === undefined) return undefined;
    // `a-` may be meant as a range. Only the ranges above are known.
    if (range === undefined && take(reader, /-/) !== undefined) return undefined;
    written += part;
  }
  return written === "" ? undefined : `[${not}${written}]`;
}

/** "" for none; undefined for one that is read differently, or that is too large. */
function readRepeat(reader: Reader): string | undefined {
  const plain = take(reader, /[*+?]/)?.[0];
  const counted = plain === undefined ? take(reader, /\{(\d{1,2})(,?)(\d{0,2})\}/) : undefined;
  if (counted !== undefined) {
    const [, least = "", comma = "", most = ""] = counted;
    if (Number(least) > mostRepeats || Number(most) > mostRepeats) return undefined;
    if (most !== "" && (comma === "" || Number(most) < Number(least))) return undefined;
  }
  // A second sign would make it lazy, or repeat the repeat.
  if (take(reader, /[*+?{]/) !== undefined) return undefined;
  return plain ?? counted?.[0] ?? "";
}
