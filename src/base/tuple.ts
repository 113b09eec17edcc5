declare const brand: unique symbol;

/** A value that only its validating function can make: a plain `T` is not assignable to it. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

export type TenantId = Brand<string, "TenantId">;

/**
 * The tenant that a request names, as it came, before its id and its rights are checked: any text. Only the order in
 * which requests are served and the shares of tenants may rest on it.
 */
export type NamedTenant = string;

/** The ids that a tenant can be created with. */
export const newTenantPattern = /^[a-zA-Z0-9\-,]{1,64}$/;

/** 20 characters `0-9a-v`, strictly increasing within a tenant. */
export type SchemaVersion = Brand<string, "SchemaVersion">;

/** Opaque text that names one exact state of a tenant's data. */
export type SnapToken = Brand<string, "SnapToken">;

export interface Entity {
  readonly type: string;
  readonly id: string;
}

/** If `relation` is "", the subject itself, else the userset `type:id#relation`. */
export interface Subject {
  readonly type: string;
  readonly id: string;
  readonly relation: string;
}

export interface Tuple {
  readonly entity: Entity;
  readonly relation: string;
  readonly subject: Subject;
}

export const attributeTypes = [
  "boolean",
  "boolean[]",
  "string",
  "string[]",
  "integer",
  "integer[]",
  "double",
  "double[]",
] as const;

export type AttributeType = (typeof attributeTypes)[number];

/** A typed value; integers are 32-bit, doubles may be NaN or infinite. */
export type AttributeValue =
  | { readonly type: "boolean"; readonly data: boolean }
  | { readonly type: "boolean[]"; readonly data: readonly boolean[] }
  | { readonly type: "string"; readonly data: string }
  | { readonly type: "string[]"; readonly data: readonly string[] }
  | { readonly type: "integer"; readonly data: number }
  | { readonly type: "integer[]"; readonly data: readonly number[] }
  | { readonly type: "double"; readonly data: number }
  | { readonly type: "double[]"; readonly data: readonly number[] };

export interface Attribute {
  readonly entity: Entity;
  readonly attribute: string;
  readonly value: AttributeValue;
}

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/**
 * The tuples, attributes and data that a request adds to the stored data for its own evaluation.
 */
export interface Context {
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
  readonly data: { readonly [key: string]: JsonValue };
}

export const emptyContext: Context = { tuples: [], attributes: [], data: {} };
