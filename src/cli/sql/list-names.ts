/** A column of an order as it was written. */
export interface WrittenColumn {
  readonly name: string;
  readonly isDescending: boolean;
  readonly hasNullsFirst: boolean;
}

const identifier = String.raw`(?:"(?<quoted>(?:[^"]|"")+)"|(?<plain>[\p{L}_][\p{L}\p{N}_$]*))`;
const name = new RegExp(`^\\s*${identifier}\\s*$`, "u");
const column = new RegExp(
  String.raw`\s*${identifier}(?:\s+(?<direction>asc|desc))?(?:\s+nulls\s+(?<nulls>first|last))?\s*(?<end>,|$)`,
  "iuy",
);

/** Reads a name as SQL spells it: without quotes in lower case. Undefined for other texts. */
export function nameOf(text: string): string | undefined {
  const match = name.exec(text);
  return match === null ? undefined : identifierOf(match);
}

/** Reads the columns of an `order by`. Undefined for other texts, such as expressions. */
export function orderOf(text: string): readonly WrittenColumn[] | undefined {
  const columns: WrittenColumn[] = [];
  column.lastIndex = 0;
  for (;;) {
    const match = column.exec(text);
    if (match === null) return undefined;
    const isDescending = match.groups?.["direction"]?.toLowerCase() === "desc";
    const nulls = match.groups?.["nulls"]?.toLowerCase();
    const hasNullsFirst = nulls === undefined ? isDescending : nulls === "first";
    columns.push({ name: identifierOf(match), isDescending, hasNullsFirst });
    if (match.groups?.["end"] === "") return columns;
  }
}

function identifierOf({ groups }: RegExpExecArray): string {
  const quoted = groups?.["quoted"];
  return quoted === undefined
    ? (groups?.["plain"] ?? "").toLowerCase()
    : quoted.replaceAll('""', '"');
}
