import fc from "fast-check";

import type { JsonSchema } from "../../src/http/shapes/field.ts";
import { anyText } from "../support/any-text.ts";
import {
  type DescribedOperation,
  type DescribedParameter,
  type Description,
  objectOf,
} from "./description.ts";

/** A request as it goes over the line. */
export interface FuzzRequest {
  readonly [fc.toStringMethod]: () => string;
  readonly operation: DescribedOperation;
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
  /** Whether its path is not that of the operation. */
  readonly isElsewhere: boolean;
  /** Whether the description permits it. */
  readonly isValid: boolean;
}

/**
 * Values by the names of the fields that may have them, or of the schemas: else a request would find
 * nothing of what it names. What is not permitted where it would stand is not taken.
 */
export type KnownValues = Readonly<Record<string, readonly unknown[]>>;

/** Requests of any operation, as described and spoilt. */
export function arbitraryRequest(
  description: Description,
  known: KnownValues,
): fc.Arbitrary<FuzzRequest> {
  return fc.oneof(
    ...description.operations.map((operation) => {
      const { body } = operation;
      // A limit of time in a header would be met, by an answer that is a fault else.
      const parameters = operation.parameters.filter((parameter) => parameter.in !== "header");
      const valid =
        body === undefined ? fc.constant({}) : arbitraryOf(body.schema, description, known);
      return fc
        .record({
          parameters: fc.tuple(
            ...parameters.map(({ name, schema }) => arbitraryOf(schema, description, known, name)),
          ),
          body: valid,
          spoilt: seldom(1, arbitrarySpoiling),
          bytes: seldom(10, arbitraryBytes),
          method: seldom(20, fc.constantFrom(...methods)),
          place: seldom(20, arbitraryPlace),
          contentType: seldom(10, fc.constantFrom(...contentTypes)),
        })
        .map((parts): FuzzRequest => {
          const value = parts.spoilt === null ? parts.body : parts.spoilt(parts.body);
          const text = Buffer.from(JSON.stringify(value) ?? "");
          const path = pathOf(operation.path, parameters, parts.parameters);
          return {
            // A failure shows the request elsewhere; all that is described would hide it.
            [fc.toStringMethod]: () => operation.id,
            operation,
            method: parts.method ?? operation.method,
            path: parts.place === null ? path : parts.place(path),
            contentType: parts.contentType ?? "application/json",
            body: parts.bytes === null ? text : parts.bytes(text),
            isElsewhere: parts.place !== null,
            isValid: [parts.spoilt, parts.bytes, parts.method, parts.place].every(
              (one) => one === null,
            ),
          };
        });
    }),
  );
}

/** Once for so many times that nothing comes. */
function seldom<T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: times, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"];

const contentTypes = ["text/plain", "application/xml; charset=latin1", ";;", "multipart/form-data"];

/** A path that is nearly one. */
const arbitraryPlace: fc.Arbitrary<(path: string) => string> = fc.constantFrom(
  (path: string) => `${path}/`,
  (path: string) => path.replace("/v1", "//v1"),
  (path: string) => path.replace("tenants", "%74enants"),
  (path: string) => path.replace(/\/t1(?=\/|$)/, "/%00"),
  (path: string) => path.replace(/\/t1(?=\/|$)/, "/%ff"),
  (path: string) => path.replace(/\/t1(?=\/|$)/, "/.."),
  (path: string) => path.replace(/\/t1(?=\/|$)/, `/${"a".repeat(5_000)}`),
  (path: string) => `${path}?page_size=-1&page_size=2&snap_token=%00&__proto__=1`,
);

/** Bytes that are not the JSON they were. */
const arbitraryBytes: fc.Arbitrary<(text: Buffer) => Buffer> = fc.oneof(
  fc.nat().map((at) => (text: Buffer) => text.subarray(0, at % (text.length + 1))),
  fc
    .tuple(
      fc.nat(),
      fc.constantFrom(0x00, 0x0a, 0x1f, 0x22, 0x5c, 0x7b, 0x7d, 0x80, 0xc0, 0xed, 0xff),
    )
    .map(([at, byte]) => (text: Buffer) => {
      const place = at % (text.length + 1);
      return Buffer.concat([text.subarray(0, place), Buffer.of(byte), text.subarray(place)]);
    }),
  fc.constant((text: Buffer) => Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), text])),
  fc.constant((text: Buffer) => Buffer.concat([text, text])),
);

/** Values that fit nowhere, or only just. */
const strange: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    2 ** 31,
    2 ** 53,
    1e300,
    0.5,
    "",
    "\u0000",
    "\ud800",
    "*",
    "...",
    "__proto__",
    "💥".repeat(100),
    "a".repeat(100_000),
    [],
    {},
    [[]],
    [null],
    JSON.parse('{"__proto__": {"type": "user"}}'),
    { "@type": "base.v1.IntegerValue", data: "7" },
    { "@type": "x/base.v1.DoubleArrayValue", data: ["NaN", 1, null] },
  ),
  fc
    .integer({ min: 1, max: 2_000 })
    .map((levels) => JSON.parse("[".repeat(levels) + "]".repeat(levels))),
  fc.jsonValue({ maxDepth: 4 }),
  anyText({ maxLength: 200 }),
  fc.double(),
);

/** One place of a body that is something else, or not there, or has something besides. */
const arbitrarySpoiling: fc.Arbitrary<(body: unknown) => unknown> = fc
  .record({
    at: fc.nat(),
    how: fc.oneof(
      fc.constant({ kind: "drop" } as const),
      strange.map((value) => ({ kind: "replace", value }) as const),
      fc
        .tuple(fc.constantFrom("", "tenant_id", "constructor", "toString", "\u0000"), strange)
        .map(([key, value]) => ({ kind: "add", key, value }) as const),
    ),
  })
  .map(({ at, how }) => (body: unknown) => {
    const copy: { root: unknown } = { root: structuredClone(body) };
    const places = placesIn(copy);
    const place = places[at % places.length];
    if (place === undefined) return body;
    const { holder, key } = place;
    const value: unknown = Reflect.get(holder, key);
    if (how.kind === "drop") Reflect.deleteProperty(holder, key);
    else if (how.kind === "replace") Reflect.set(holder, key, how.value);
    else if (typeof value === "object" && value !== null) Reflect.set(value, how.key, how.value);
    return copy.root;
  });

function placesIn(holder: object): readonly { readonly holder: object; readonly key: string }[] {
  return Object.entries(holder).flatMap(([key, value]) => [
    { holder, key },
    ...(typeof value === "object" && value !== null ? placesIn(value) : []),
  ]);
}

function pathOf(
  described: string,
  parameters: readonly DescribedParameter[],
  values: readonly unknown[],
): string {
  const query: [string, string][] = [];
  let path = described;
  parameters.forEach((parameter, index) => {
    const value = String(values[index]);
    if (parameter.in === "query") query.push([parameter.name, value]);
    else path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
  });
  return query.length === 0 ? path : `${path}?${new URLSearchParams(query).toString()}`;
}

/** Values that a schema permits; `key` is the name of the field that they are for. */
function arbitraryOf(
  described: JsonSchema,
  description: Description,
  known: KnownValues,
  key = "",
): fc.Arbitrary<unknown> {
  const schema = description.resolve(described);
  const { $ref } = described;
  const name = typeof $ref === "string" ? ($ref.split("/").at(-1) ?? "") : key;
  const any = anyOf(schema, description, known, key);
  const fitting = (known[name] ?? []).filter((value) => description.permits(described, value));
  return fitting.length === 0
    ? any
    : fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom(...fitting) },
        { weight: 1, arbitrary: any },
      );
}

function anyOf(
  schema: JsonSchema,
  description: Description,
  known: KnownValues,
  key: string,
): fc.Arbitrary<unknown> {
  const of = (part: unknown, name = key): fc.Arbitrary<unknown> =>
    arbitraryOf(objectOf(part), description, known, name);
  const choices = schema["oneOf"] ?? schema["anyOf"];
  if (Array.isArray(choices)) return fc.oneof(...choices.map((choice: unknown) => of(choice)));
  if ("const" in schema) return fc.constant(schema["const"]);
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  const least = Number(schema["minItems"] ?? 0);
  switch (schema["type"]) {
    case "boolean":
      return fc.boolean();
    case "integer": {
      const min = Number(schema["minimum"] ?? 0);
      const max = Number(schema["maximum"] ?? 100);
      return fc.oneof(fc.integer({ min, max: Math.min(max, min + 30) }), fc.integer({ min, max }));
    }
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "string":
      return textOf(schema);
    case "array":
      return fc.array(of(schema["items"]), { minLength: least, maxLength: least + 3 });
    default:
      return schema["properties"] === undefined
        ? mapOf(schema, of, known, key)
        : objectFrom(schema, of);
  }
}

type Part = (part: unknown, name?: string) => fc.Arbitrary<unknown>;

function objectFrom(schema: JsonSchema, of: Part): fc.Arbitrary<unknown> {
  const parts = Object.entries(objectOf(schema["properties"])).map(
    ([name, part]) => [name, of(part, name)] as const,
  );
  const required = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  return fc.record(Object.fromEntries(parts), { requiredKeys: required });
}

function mapOf(
  schema: JsonSchema,
  of: Part,
  known: KnownValues,
  key: string,
): fc.Arbitrary<unknown> {
  const names = objectOf(schema["propertyNames"] ?? {});
  const any = textOf(names);
  const fitting = (known[`${key} keys`] ?? []).map(String);
  const keys = fitting.length === 0 ? any : fc.oneof(fc.constantFrom(...fitting), any);
  const values =
    typeof schema["additionalProperties"] === "object"
      ? of(schema["additionalProperties"])
      : fc.jsonValue({ maxDepth: 3 });
  return fc.dictionary(keys, values, { maxKeys: 3 });
}

function textOf(schema: JsonSchema): fc.Arbitrary<string> {
  const max = Number(schema["maxLength"] ?? 200);
  const pattern = new RegExp(typeof schema["pattern"] === "string" ? schema["pattern"] : "", "u");
  if (/^\^.*\[a-z/.test(pattern.source)) return fc.stringMatching(pattern);
  return fc
    .string({ unit: "grapheme", maxLength: Math.min(max, 20) })
    .filter((text) => pattern.test(text));
}
