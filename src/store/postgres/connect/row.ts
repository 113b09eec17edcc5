import { assert, must } from "../../../base/assert.ts";
import { PembaError } from "../../../base/error.ts";
import { quote } from "../../../base/quote.ts";
import type { SchemaVersion, TenantId } from "../../../base/tuple.ts";

/** A row as the driver parses it: text, xid8 and bigint are strings, timestamps are dates. */
export type Row = Readonly<Record<string, unknown>>;

/** The row of a statement that returns one for any values. */
export function onlyRow(rows: readonly Row[]): Row {
  return must(rows[0], "the statement returns one row");
}

export function textOf(row: Row, column: string): string {
  const value = row[column];
  assert(typeof value === "string", `column ${column} is not text`);
  return value;
}

/** Undefined for null. */
export function optionalTextOf(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : textOf(row, column);
}

/** The id of a tenant. It was one when it was stored. */
export function tenantIdOf(row: Row, column = "tenant"): TenantId {
  return textOf(row, column) as TenantId;
}

/** A schema version, undefined for null. It was one when it was stored. */
export function versionOf(row: Row, column: string): SchemaVersion | undefined {
  return optionalTextOf(row, column) as SchemaVersion | undefined;
}

/** Fails with UNAVAILABLE for another text: an instance of a newer version may have written it, and knows it. */
export function oneOf<T extends string>(row: Row, column: string, values: readonly T[]): T {
  const text = textOf(row, column);
  const known = values.find((value) => value === text);
  if (known !== undefined) return known;
  const problem = `the database says ${quote(text)} for \`${column}\`, which only a newer version may know`;
  throw new PembaError("UNAVAILABLE", problem);
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
