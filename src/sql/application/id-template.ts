import { must } from "../../base/assert.ts";
import { keyOf } from "../list/list-key.ts";
import { quotedName, quotedText } from "../text/quote.ts";

/** A column of an application's table, with its type below domains, one of `keyTypes`. */
export interface TemplateColumn {
  readonly name: string;
  readonly type: string;
}

/** Texts and columns that together are an id. */
export type IdTemplate = readonly (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "column"; readonly column: TemplateColumn }
)[];

/** The id of a row as SQL; null if one of its columns is null. `row` is the alias of the row. */
export function idText(template: IdTemplate, row: string): string {
  const parts = template.map((part) =>
    part.kind === "text" ? quotedText(part.text) : `${row}.${quotedName(part.column.name)}::text`,
  );
  return `(${parts.join(" || ")}) collate "C"`;
}

/** The columns of a template, in its order. */
export function columnsOf(template: IdTemplate): readonly TemplateColumn[] {
  return template.flatMap((part) => (part.kind === "column" ? [part.column] : []));
}

/** The longest id, and the longest text of a column with a number or a UUID. */
const idLengthMax = 128;
const columnLengthMax = 36;

/** Whether an id may have characters that ids do not have, be empty, or be too long. */
export function mayBeUnfit(template: IdTemplate): boolean {
  const lengths = template.map((part) =>
    part.kind === "text" ? part.text.length : columnLengthMax,
  );
  const length = lengths.reduce((sum, each) => sum + each, 0);
  return (
    length > idLengthMax || columnsOf(template).some(({ type }) => charactersOf(type) === undefined)
  );
}

/**
 * Whether different values of the columns always make different ids. They do if each column but one has
 * a fixed length, or ends, seen from its side of that one, at a character that it never has.
 */
export function isReadable(template: IdTemplate): boolean {
  const columns = columnsOf(template);
  const between = textsBetween(template);
  const ends = (index: number, separator: string | undefined): boolean => {
    const { type } = must(columns[index], "the index is of a column");
    const known = charactersOf(type);
    if (type === "uuid") return true;
    return known !== undefined && (separator ?? "").split("").some((each) => !known.includes(each));
  };
  let fromLeft = 0;
  while (fromLeft < columns.length && ends(fromLeft, between[fromLeft])) fromLeft += 1;
  let fromRight = 0;
  while (
    fromRight < columns.length - fromLeft &&
    ends(columns.length - 1 - fromRight, between[columns.length - 2 - fromRight])
  ) {
    fromRight += 1;
  }
  return fromLeft + fromRight >= columns.length - 1;
}

/**
 * The value of a column from an SQL expression of an id; null for an id that no row has. Needs a
 * template that can be read.
 */
export function columnValue(template: IdTemplate, name: string, id: string): string | undefined {
  const columns = columnsOf(template);
  const index = columns.findIndex((column) => column.name === name);
  const column = columns[index];
  if (column === undefined) return undefined;
  const pattern = template.map((part) =>
    part.kind === "text" ? escaped(part.text) : `(${patterns[part.column.type] ?? ".*"})`,
  );
  const text =
    template.length === 1
      ? id
      : `(regexp_match(${id}, ${quotedText(`^${pattern.join("")}$`)}))[${index + 1}]`;
  return must(keyOf(column.type, text), "the type can be that of a key");
}

/** The texts between one column and the next. */
function textsBetween(template: IdTemplate): readonly string[] {
  const texts: string[] = [];
  for (const part of template) {
    if (part.kind === "column") texts.push("");
    else if (texts.length > 0) texts[texts.length - 1] += part.text;
  }
  return texts;
}

const digits = "0123456789-";
const characters: Readonly<Record<string, string>> = {
  uuid: `${digits}abcdef`,
  smallint: digits,
  integer: digits,
  bigint: digits,
};

const patterns: Readonly<Record<string, string>> = {
  uuid: "[0-9a-f-]{36}",
  smallint: "-?[0-9]+",
  integer: "-?[0-9]+",
  bigint: "-?[0-9]+",
};

/** The characters that texts of a type can have; undefined: any. */
function charactersOf(type: string): string | undefined {
  return characters[type];
}

function escaped(text: string): string {
  return text.replaceAll(/[.+*?^$(){}|[\]\\]/g, String.raw`\$&`);
}
