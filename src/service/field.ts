import { fieldError, type PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import {
  newTenantPattern,
  type SchemaVersion,
  type SnapToken,
  type TenantId,
} from "../base/tuple.ts";
import { depthMax } from "../base/verdict.ts";

/** A field that a client may leave out: transports pass null and absent alike. */
export type Absent = null | undefined;

export const defaultPageSize = 50;
export const defaultDepth = 100;
/** A page never holds more, whatever was asked: the token says that there is more. */
export const maxPageSize = 10_000;
export const maxTenantBytes = 64;

export const namePattern = /^[a-zA-Z_]{1,64}$/;
export const idPattern = /^(?:[a-zA-Z0-9_\-@.:+]{1,128}|\*)$/;
/** The pattern of the path, and the comma that creation allows. */
export const tenantPattern = /^(?:[a-zA-Z0-9_\-@.:+,]{1,128}|\*)$/;
/** Spelled as all dialects of regular expressions have it, since the description tells it. */
export const bundleNamePattern = new RegExp(String.raw`^[^\x00-\x1f\x7f-\x9f]{1,128}$`, "u");

/** A client's mistake in one field, which is named by its JSON path. */
export function invalidField(field: string, problem: string): PembaError {
  return fieldError("VALIDATION", field, problem);
}

export function missingField(field: string, expected: string): PembaError {
  return invalidField(field, `is missing, expected ${expected}`);
}

/** The name of an entity type, a relation, a permission, an attribute. */
export function parseName(value: string | Absent, field: string): string {
  const expected = "a name of 1 to 64 letters and underscores";
  if (value === undefined || value === null || value === "") throw missingField(field, expected);
  if (!namePattern.test(value)) {
    throw invalidField(field, `${quote(value)} is not ${expected}`);
  }
  return value;
}

/** The id of an entity or a subject. */
export function parseId(value: string | Absent, field: string): string {
  const expected = "an id of 1 to 128 characters a-z A-Z 0-9 _ - @ . : + (or `*` alone)";
  if (value === undefined || value === null || value === "") throw missingField(field, expected);
  if (!idPattern.test(value)) throw invalidField(field, `${quote(value)} is not ${expected}`);
  return value;
}

/** The tenant of a path; every id that creation accepts is one. */
export function parseTenantId(value: string, field = "tenant_id"): TenantId {
  if (!tenantPattern.test(value)) {
    throw invalidField(
      field,
      `${quote(value)} is not a tenant id of 1 to 128 characters a-z A-Z 0-9 _ - @ . : + and comma (or \`*\` alone)`,
    );
  }
  return value as TenantId;
}

/** The id of a tenant to be created, which is narrower than what a path may name. */
export function parseNewTenantId(value: string | Absent): TenantId {
  const expected = "a tenant id of 1 to 64 characters a-z A-Z 0-9 - and comma";
  if (value === undefined || value === null || value === "") throw missingField("id", expected);
  if (!newTenantPattern.test(value)) {
    throw invalidField("id", `${quote(value)} is not ${expected}`);
  }
  return value as TenantId;
}

/** Present, perhaps empty, at most 64 bytes of UTF-8. */
export function parseTenantName(value: string | Absent): string {
  const expected = "a text of at most 64 bytes";
  if (value === undefined || value === null) throw missingField("name", expected);
  if (Buffer.byteLength(value) > maxTenantBytes) {
    throw invalidField(
      "name",
      `${quote(value)} has ${Buffer.byteLength(value)} bytes, expected ${expected}`,
    );
  }
  return parseText(value, "name");
}

/** The name of a bundle, which may be any text on one line. */
export function parseBundleName(value: string | Absent, field: string): string {
  const expected = "a name of 1 to 128 characters without control characters";
  if (value === undefined || value === null || value === "") throw missingField(field, expected);
  if (!bundleNamePattern.test(value) || !value.isWellFormed()) {
    throw invalidField(field, `${quote(value)} is not ${expected}`);
  }
  return value;
}

/** Free text: anything but what no database can store. */
export function parseText(value: string, field: string): string {
  if (value.includes("\0"))
    throw invalidField(field, "has a NUL character, which no text may hold");
  if (!value.isWellFormed()) {
    throw invalidField(field, "has half of a surrogate pair, expected well-formed Unicode");
  }
  return value;
}

/** Absent means the default; a larger page than the server gives is cut to what it gives. */
export function parsePageSize(value: number | Absent, fallback: number): number {
  return Math.min(parseStreamSize(value) ?? fallback, maxPageSize);
}

/** The same for a stream, which is as long as it gets when nothing is said. */
export function parseStreamSize(value: number | Absent): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (value < 1) throw invalidField("page_size", `${value} is too small, expected at least 1`);
  return value;
}

/** Absent and 0 mean the default; no graph that is searched is deeper than `depthMax`. */
export function parseDepth(value: number | Absent, field = "metadata.depth"): number {
  if (value === undefined || value === null || value === 0) return defaultDepth;
  if (value < 0) {
    throw invalidField(field, `${value} is negative, expected at least 1 (0 is the default, 100)`);
  }
  return Math.min(value, depthMax);
}

/** Undefined means the head. Whether the version exists is the store's to say. */
export function parseSchemaVersion(value: string | Absent): SchemaVersion | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return parseText(value, "metadata.schema_version") as SchemaVersion;
}

/** Undefined means no pin. What a token holds is the store's to read. */
export function parseSnapToken(
  value: string | Absent,
  field = "metadata.snap_token",
): SnapToken | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return parseText(value, field) as SnapToken;
}

/** The object, when it is there: only that it is present is checked, it may be empty. */
export function requireObject<T extends object>(value: T | Absent, field: string): T {
  if (value === undefined || value === null) throw missingField(field, "an object");
  return value;
}
