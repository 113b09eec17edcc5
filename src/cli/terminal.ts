import { columnsOf, widthOf, wrap } from "../base/text-width.ts";
import { say } from "./output.ts";

/** Where text goes: to a terminal, or to a file or a pipe. */
export interface Screen {
  readonly isTTY: boolean;
  readonly columns: number;
}

/** The columns of the terminal that shows the results. Infinity if they go to a file or a pipe. */
export function terminalWidth(): number {
  return screenWidth(process.stdout);
}

/** A terminal that does not say how wide it is has zero columns. Nothing is broken for it. */
function screenWidth({ isTTY, columns }: Screen): number {
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

/**
 * A text of paragraphs and indented lines as wide as the terminal at most, if it goes to one. Lines of a
 * paragraph are joined. An indented line goes on below its last column.
 */
export function fitText(text: string, screen: Screen): string {
  return fittedLines(text, screenWidth(screen)).join("\n");
}

/**
 * What takes the place of the last line of a terminal: the first of the texts that fits into a line, or the
 * beginning of the last one. In a second line it would stay there.
 */
export function redrawn(texts: readonly [string, ...string[]], screen: Screen): string {
  const room = screenWidth(screen) - 1;
  const fits = texts.find((text) => widthOf(text) <= room) ?? beginning(texts.at(-1) ?? "", room);
  return `\r\u001B[K${fits}`;
}

function beginning(text: string, width: number): string {
  let columns = 0;
  let end = 0;
  for (const character of text) {
    columns += columnsOf(character);
    if (columns > width) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** The lines of such a text. */
export function fittedLines(text: string, width: number): readonly string[] {
  if (text.split("\n").every((line) => widthOf(line) <= width)) return text.split("\n");
  return joinedItems(text.replaceAll(/(?<=^\S.*)\n(?=\S)/gm, " ").split("\n")).flatMap((line) => {
    const indent = /^ *(?:\S+(?: \S+)* {2,}|)/.exec(line)?.[0].length ?? 0;
    const [first = "", ...rest] = wrap(line, width);
    if (rest.length === 0) return [line];
    const room = width - indent;
    if (indent === 0 || room < width / 3) return [first, ...rest];
    return wrap(line.slice(indent), room).map(
      (one, nth) => (nth === 0 ? line.slice(0, indent) : " ".repeat(indent)) + one,
    );
  });
}

/** Lines that go on below the last column of the line before are joined to it. */
function joinedItems(lines: readonly string[]): readonly string[] {
  const joined: string[] = [];
  let column = 0;
  for (const line of lines) {
    const indent = line.length - line.trimStart().length;
    if (column > 0 && indent === column) joined.push(`${joined.pop()} ${line.trimStart()}`);
    else {
      column = /^ *\S+(?: \S+)* {2,}(?=\S)/.exec(line)?.[0].length ?? 0;
      joined.push(line);
    }
  }
  return joined;
}

const columnGap = 2;
/** Times, addresses and ids are no longer, and stay whole if the long columns leave room for them. */
const shortColumns = 30;
const leastOfLong = 12;
/** A wide character has room in it. */
const leastColumns = 2;

/** Writes a table of texts without control characters, as wide as the terminal at most. */
export function sayTable(rows: readonly (readonly string[])[]): void {
  for (const line of tableLines(rows, terminalWidth())) say(line);
}

/** The lines of a table. Where it is too wide, its widest columns are wrapped. */
export function tableLines(rows: readonly (readonly string[])[], width: number): readonly string[] {
  const widths = fitted(columnWidths(rows), width);
  return rows.flatMap((row) => {
    const cells = row.map((cell, column) => wrap(cell, widths[column] ?? 0));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, nth) =>
      cells
        .map((lines, column) => padded(lines[nth] ?? "", widths[column] ?? 0))
        .join(" ".repeat(columnGap))
        .trimEnd(),
    );
  });
}

function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const count = Math.max(0, ...rows.map(({ length }) => length));
  return Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ""))),
  );
}

/** Narrows the widest of the long columns first, and others only where that is not enough. */
function fitted(widths: readonly number[], width: number): readonly number[] {
  const room = width - columnGap * Math.max(widths.length - 1, 0);
  const isLong = (column: number): boolean => (widths[column] ?? 0) > shortColumns;
  const narrowed = narrowedTo(room, widths, isLong, leastOfLong);
  return narrowedTo(room, narrowed, () => true, leastColumns);
}

function narrowedTo(
  room: number,
  widths: readonly number[],
  mayNarrow: (column: number) => boolean,
  least: number,
): readonly number[] {
  const narrowed = [...widths];
  for (let excess = narrowed.reduce((sum, one) => sum + one, 0) - room; excess > 0; excess -= 1) {
    const widest = Math.max(least, ...narrowed.filter((_, column) => mayNarrow(column)));
    const column = narrowed.findIndex((one, index) => one === widest && mayNarrow(index));
    if (column === -1 || widest === least) break;
    narrowed[column] = widest - 1;
  }
  return narrowed;
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(width - widthOf(text), 0));
}
