import assert from "node:assert/strict";

import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Where a value stands in a request. */
export type Path = readonly (string | number)[];

/** A request with one thing wrong. */
export interface Fault {
  readonly path: Path;
  /** `tuples[0].entity.id`. */
  readonly field: string;
  /** What is wrong, for the name of the test. */
  readonly what: string;
  readonly request: JsonObject;
}

type Kind = "text" | "integer" | "boolean" | "object" | "list";

interface Field {
  readonly path: Path;
  readonly kind: Kind;
}

const wrongValues: Readonly<Record<Kind, readonly JsonValue[]>> = {
  text: [7, true, [], {}],
  integer: ["many", "", "0x5", 1.5, true, [], {}, 2 ** 53, -(2 ** 40), 1e300],
  boolean: ["true", 1, [], {}],
  object: ["x", 7, true, []],
  list: ["x", 7, true, {}, [null]],
};

/** Every field of a shape with values of kinds that it does not take. */
export function wrongKinds(shape: unknown, sample: JsonObject): readonly Fault[] {
  return fieldsOf(shape, [], sample).flatMap(({ path, kind }) =>
    wrongValues[kind].map((value) => {
      const isElement = kind === "list" && Array.isArray(value);
      return {
        path,
        field: fieldName(isElement ? [...path, 0] : path),
        what: `is ${JSON.stringify(value)}`,
        request: withValue(sample, path, value),
      };
    }),
  );
}

/** Texts that no field takes, and such as few fields take. */
export const badTexts = {
  "a NUL": "a\0b",
  "half of a surrogate pair": "a\ud800",
  "a control character": "a\u0007b",
  "a hundred thousand letters": "a".repeat(100_000),
} as const;

export type BadText = keyof typeof badTexts;

/** Every text of a shape, and every one inside the sample, with a bad one in its place. */
export function textFaults(shape: unknown, sample: JsonObject, bad: BadText): readonly Fault[] {
  const paths = new Map<string, Path>();
  for (const { path, kind } of fieldsOf(shape, [], sample)) {
    if (kind === "text") paths.set(fieldName(path), path);
  }
  for (const [path, value] of placesOf(sample)) {
    if (typeof value === "string") paths.set(fieldName(path), path);
  }
  return [...paths].map(([field, path]) => ({
    path,
    field,
    what: `has ${bad}`,
    request: withValue(sample, path, badTexts[bad]),
  }));
}

/** The sample without one of its fields: null or absent, as given. */
export function missingFields(
  sample: JsonObject,
  absences: readonly (null | undefined)[],
): readonly Fault[] {
  return [...placesOf(sample)].flatMap(([path]) =>
    absences.map((absence) => ({
      path,
      field: fieldName(path),
      what: absence === null ? "is null" : "is missing",
      request: withValue(sample, path, absence),
    })),
  );
}

/** Can a value stand there in a message? What is within an Any goes as bytes, not as fields. */
export function isFieldOf(message: DescMessage, [step, ...rest]: Path): boolean {
  if (message.typeName === "google.protobuf.Struct") return true;
  if (message.typeName === "google.protobuf.Any") return step === undefined;
  if (step === undefined) return true;
  const field = message.fields.find(({ name }) => name === step);
  if (field === undefined) return false;
  const inner = messageOf(field);
  const hasKey = field.fieldKind === "list" || field.fieldKind === "map";
  return inner === undefined || isFieldOf(inner, hasKey ? rest.slice(1) : rest);
}

function messageOf(field: DescField): DescMessage | undefined {
  switch (field.fieldKind) {
    case "message":
    case "list":
    case "map":
      return field.message;
    case "scalar":
    case "enum":
      return undefined;
  }
}

/** The fields of a JSON schema; of a list the first element, of a map the key of the sample. */
function fieldsOf(shape: unknown, path: Path, sample: JsonValue | undefined): readonly Field[] {
  const types = [part(shape, "type")].flat();
  const own = (kind: Kind): readonly Field[] => (path.length === 0 ? [] : [{ path, kind }]);
  if (types.includes("integer")) return own("integer");
  if (types.includes("string")) return own("text");
  if (types.includes("boolean")) return own("boolean");
  if (types.includes("array")) {
    const within = Array.isArray(sample) ? sample[0] : undefined;
    return [...own("list"), ...fieldsOf(part(shape, "items"), [...path, 0], within)];
  }
  assert.ok(types.includes("object"), JSON.stringify(shape));
  const properties = part(shape, "properties");
  const any = part(shape, "additionalProperties");
  const given = isObject(sample) ? sample : {};
  const names =
    properties === undefined
      ? [[Object.keys(given)[0] ?? "key", any] as const].filter(() => any !== undefined)
      : Object.entries(properties);
  return [
    ...own("object"),
    ...names.flatMap(([name, inner]) => fieldsOf(inner, [...path, name], given[name])),
  ];
}

/** Every value inside a sample, with its place. */
function* placesOf(value: JsonValue, path: Path = []): Generator<readonly [Path, JsonValue]> {
  if (path.length > 0) yield [path, value];
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* placesOf(item, [...path, index]);
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) yield* placesOf(item, [...path, key]);
  }
}

/** A copy with another value at a place, whose containers are made; undefined leaves it out. */
function withValue(request: JsonObject, path: Path, value: JsonValue | undefined): JsonObject {
  const changed = replaced(request, path, value);
  assert.ok(isObject(changed));
  return changed;
}

function replaced(
  current: JsonValue | undefined,
  [step, ...rest]: Path,
  value: JsonValue | undefined,
): JsonValue | undefined {
  if (step === undefined) return value;
  if (typeof step === "number") {
    const items = Array.isArray(current) ? [...current] : [];
    const item = replaced(items[step], rest, value);
    return item === undefined ? items.toSpliced(step, 1) : items.toSpliced(step, 1, item);
  }
  const { [step]: old, ...others } = isObject(current) ? current : {};
  const inner = replaced(old, rest, value);
  return inner === undefined ? others : { ...others, [step]: inner };
}

function fieldName(path: Path): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}

function part(shape: unknown, key: string): object | string | undefined {
  if (typeof shape !== "object" || shape === null) return undefined;
  const value: unknown = Reflect.get(shape, key);
  return typeof value === "string" || (typeof value === "object" && value !== null)
    ? value
    : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
