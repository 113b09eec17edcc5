import { assert } from "../../../base/assert.ts";

/** A row as the driver parses it: text, xid8 and bigint are strings, timestamps are dates. */
export type Row = Readonly<Record<string, unknown>>;

export function textOf(row: Row, column: string): string {
  const value = row[column];
  assert(typeof value === "string", `column ${column} is not text`);
  return value;
}

/** Undefined for null. */
export function optionalTextOf(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : textOf(row, column);
}

export function numberOf(row: Row, column: string): number {
  const value = row[column];
  assert(typeof value === "number", `column ${column} is not a number`);
  return value;
}

export function booleanOf(row: Row, column: string): boolean {
  const value = row[column];
  assert(typeof value === "boolean", `column ${column} is not a boolean`);
  return value;
}

export function dateOf(row: Row, column: string): Date {
  const value = row[column];
  assert(value instanceof Date, `column ${column} is not a timestamp`);
  return value;
}
