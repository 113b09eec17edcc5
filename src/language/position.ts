/**
 * A place in a text: line and column count from 1, columns in UTF-16 units as editors do.
 * `field` is the JSON path of that text in the request when it is not the schema text itself.
 */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly field: string | undefined;
}

export const startOfText: Position = { line: 1, column: 1, field: undefined };
