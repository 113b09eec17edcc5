/** A part of the page of figures. */
export interface PageSection {
  /** Of the command, and of the file of its figures. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** Markdown of what stands in the file. */
  readonly tables: (json: string) => readonly string[];
}

/** Of what is wanted. */
export function verdict(isMet: boolean): string {
  return isMet ? "met" : "**missed**";
}

/** Markdown, as wide as the formatter makes it, so that it leaves the page alone; numbers to the right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((_, column) =>
    Math.max(3, ...[headings, ...rows].map((row) => (row[column] ?? "").length)),
  );
  const isText = widths.map((_, column) => rows.some((row) => /^[^\d]/.test(row[column] ?? "")));
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const padded = (row: readonly string[]): string =>
    line(
      widths.map((width, column) => {
        const cell = row[column] ?? "";
        return isText[column] === true ? cell.padEnd(width) : cell.padStart(width);
      }),
    );
  const rule = widths.map((width, column) =>
    isText[column] === true ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  return [padded(headings), line(rule), ...rows.map(padded)].join("\n");
}
