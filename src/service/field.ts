import { type ErrorDetail, fieldError, type PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import {
  newTenantPattern,
  type SchemaVersion,
  type SnapToken,
  type TenantId,
} from "../base/tuple.ts";
import { defaultDepth, depthMax } from "../base/verdict.ts";
import { isSchemaVersion } from "../store/schema-version.ts";
import { malformedSnapToken, schemaNotFound } from "../store/store-error.ts";

/** The value of an omitted field: null and absent mean the same. */
export type Absent = null | undefined;

export const defaultPageSize = 50;
/** The largest page, for any request. The token says that more follows. */
export const maxPageSize = 10_000;
export const maxTenantBytes = 64;

export const namePattern = /^[a-zA-Z_]{1,64}$/;
export const idPattern = /^(?:[a-zA-Z0-9_\-@.:+]{1,128}|\*)$/;
/** The pattern of the path, and the comma that creation allows. */
export const tenantPattern = /^(?:[a-zA-Z0-9_\-@.:+,]{1,128}|\*)$/;
/**
 * Written in a form that all dialects of regular expressions know, because the API description
 * contains it.
 */
export const bundleNamePattern = new RegExp(String.raw`^[^\x00-\x1f\x7f-\x9f]{1,128}$`, "u");

/** An error about one field, named by its JSON path. */
export function invalidField(field: string, problem: string): PembaError {
  return fieldError("VALIDATION", field, problem);
}

const missing = "is missing";

export function missingField(field: string, expected: string): PembaError {
  return invalidField(field, `${missing}, expected ${expected}`);
}

/** Whether a detail of an error is that a field is missing. */
export function isMissing({ message }: ErrorDetail): boolean {
  return message.startsWith(missing);
}

/** Parses the name of an entity type, a relation, a permission or an attribute. */
export function parseName(value: string | Absent, field: string): string {
  const expected = "a name of 1 to 64 letters and underscores";
  if (value === undefined || value === null || value === "") throw missingField(field, expected);
  if (!namePattern.test(value)) {
    throw invalidField(field, `${quote(value)} is not ${expected}`);
  }
  return value;
}

/** Parses the id of an entity or a subject. */
export function parseId(value: string | Absent, field: string): string {
  const expected = "an id of 1 to 128 characters a-z A-Z 0-9 _ - @ . : + (or `*` alone)";
  if (value === undefined || value === null || value === "") throw missingField(field, expected);
  if (!idPattern.test(value)) throw invalidField(field, `${quote(value)} is not ${expected}`);
  return value;
}

/** Parses the tenant in a path. Every id that creation accepts is valid. */
export function parseTenantId(value: string, field = "tenant_id"): TenantId {
  if (!tenantPattern.test(value)) {
    throw invalidField(
      field,
      `${quote(value)} is not a tenant id of 1 to 128 characters a-z A-Z 0-9 _ - @ . : + and comma (or \`*\` alone)`,
    );
  }
  return value as TenantId;
}

/** Parses the id of a new tenant. The pattern is narrower than that of a path. */
export function parseNewTenantId(value: string | Absent): TenantId {
  const expected = "a tenant id of 1 to 64 characters a-z A-Z 0-9 - and comma";
  if (value === undefined || value === null || value === "") throw missingField("id", expected);
  if (!newTenantPattern.test(value)) {
    throw invalidField("id", `${quote(value)} is not ${expected}`);
  }
  return value as TenantId;
}

/** Parses a name that must be present but may be empty, with at most 64 bytes of UTF-8. */
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

/** Parses the name of a bundle, which may be any text on one line. */
export function parseBundleName(value: string | Absent, field: string): string {
  const expected = "a name of 1 to 128 characters without control characters";
  if (value === undefined || value === null || value === "") throw missingField(field, expected);
  if (!bundleNamePattern.test(value) || !value.isWellFormed()) {
    throw invalidField(field, `${quote(value)} is not ${expected}`);
  }
  return value;
}

/** Parses free text: everything except what no database can store. */
export function parseText(value: string, field: string): string {
  if (value.includes("\0"))
    throw invalidField(field, "has a NUL character, which no text may hold");
  if (!value.isWellFormed()) {
    throw invalidField(field, "has half of a surrogate pair, expected well-formed Unicode");
  }
  return value;
}

/** Parses a page size. Absent means the default. Larger sizes are reduced to the maximum. */
export function parsePageSize(value: number | Absent, fallback: number): number {
  return Math.min(parseStreamSize(value) ?? fallback, maxPageSize);
}

/** The same for a stream, which has no limit by default. */
export function parseStreamSize(value: number | Absent): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (value < 1) throw invalidField("page_size", `${value} is too small, expected at least 1`);
  return value;
}

/** Parses a depth. Absent and 0 mean the default. No search goes deeper than `depthMax`. */
export function parseDepth(value: number | Absent, field = "metadata.depth"): number {
  if (value === undefined || value === null || value === 0) return defaultDepth;
  if (value < 0) {
    throw invalidField(field, `${value} is negative, expected at least 1 (0 is the default, 100)`);
  }
  return Math.min(value, depthMax);
}

const usualVersionField = "metadata.schema_version";

/**
 * Undefined means the head. The store decides whether the version exists. Fails with SCHEMA_NOT_FOUND for a
 * text that is no version of any schema.
 */
export function parseSchemaVersion(
  tenant: TenantId,
  value: string | Absent,
  field = usualVersionField,
): SchemaVersion | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const text = parseText(value, field);
  if (isSchemaVersion(text)) return text;
  const error = schemaNotFound(tenant, text);
  // As the store reports a version that is not there: only some requests name the field.
  throw field === usualVersionField ? error : fieldError(error.code, field, error.plainMessage);
}

/** Tokens of all engines, and those that are taken in SQL, have these characters alone. */
const snapTokenPattern = /^[a-zA-Z0-9_\-.:,/]+$/;

/** Undefined means no pin. The store validates the token. */
export function parseSnapToken(
  value: string | Absent,
  field = "metadata.snap_token",
): SnapToken | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const text = parseText(value, field);
  if (!snapTokenPattern.test(text)) {
    throw fieldError("INVALID_SNAP_TOKEN", field, malformedSnapToken);
  }
  return text as SnapToken;
}

/** Returns the object if it is present. It may be empty. */
export function requireObject<T extends object>(value: T | Absent, field: string): T {
  if (value === undefined || value === null) throw missingField(field, "an object");
  return value;
}
