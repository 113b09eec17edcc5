/** A name of a schema and where it stands. Offsets, `end` exclusive. */
interface MemberPlace {
  /** `type`, `type#name`, or the name of a rule. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

const declaration =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\b(?<word>entity|rule|relation|attribute|permission|action)\s+(?<name>\w+)/g;

/**
 * Where the names of a schema are declared, in the order of the text. It only looks for the words, so it
 * also knows a text with faults, which is the text while a user types.
 */
function declarationsOf(text: string): readonly MemberPlace[] {
  const places: MemberPlace[] = [];
  let type = "";
  for (const { index, 0: found, groups } of text.matchAll(declaration)) {
    const { word, name } = groups ?? {};
    if (word === undefined || name === undefined) continue;
    const isTop = word === "entity" || word === "rule";
    if (isTop) type = name;
    const key = isTop ? name : `${type}#${name}`;
    places.push({ key, start: index, end: index + found.length });
  }
  return places;
}

/** The key of the name in whose declaration the offset stands. Undefined before the first one. */
export function memberAt(text: string, offset: number): string | undefined {
  return declarationsOf(text).findLast(({ start }) => start <= offset)?.key;
}

/** The offset of a declaration. Undefined if there is none. */
export function offsetOf(text: string, key: string): number | undefined {
  return declarationsOf(text).find((place) => place.key === key)?.start;
}
