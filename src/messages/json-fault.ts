import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";

import { must } from "../base/assert.ts";
import type { PembaError } from "../base/error.ts";
import { describeJson, objectForText } from "../base/json-kind.ts";
import { pathUnder } from "../base/quote.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { invalidField } from "../service/field.ts";
import { typeUrlOf, valueTypeOf } from "../service/value-type.ts";

/** What decodes JSON. */
export interface JsonReader {
  /** Whether a value can be decoded as a message. */
  readonly reads: (schema: DescMessage, json: JsonValue) => boolean;
  /** The messages that an Any may contain. */
  readonly registry: Registry;
}

/** A value with its path in the request, which is empty for the whole of it. */
interface PlacedValue {
  readonly path: string;
  readonly value: JsonValue;
}

type FaultSearch = Steps<PembaError | undefined>;

/**
 * Why JSON cannot be decoded as a message: the first value that is of the wrong kind, by its path. Undefined
 * if each value fits, and the fault is another one. Fails with VALIDATION if an Any is of no known type. It
 * works in steps, because it decodes each value of a body once more.
 */
export class JsonFault {
  readonly #reader: JsonReader;
  readonly #pace = new Pace();

  constructor(reader: JsonReader) {
    this.#reader = reader;
  }

  *ofMessage(schema: DescMessage, { path, value }: PlacedValue): FaultSearch {
    if (!isJsonObject(value)) {
      const fields = schema.fields.map(({ name }) => name);
      return wrongKind({ path, value }, `an object${objectForText(value, fields)}`);
    }
    if (schema.typeName === AnySchema.typeName) return yield* this.#ofAny(path, value);
    if (schema.typeName.startsWith("google.protobuf.")) {
      return this.#reader.reads(schema, value)
        ? undefined
        : invalidField(path, `is no ${schema.typeName}, or is nested too deeply`);
    }
    for (const [key, part] of Object.entries(value)) {
      const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
      if (field === undefined || part === null) continue;
      const fault = yield* this.#ofField(field, { path: pathUnder(path, key), value: part });
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** The rest of an Any is the message that its type names. */
  *#ofAny(path: string, value: JsonObject): FaultSearch {
    if (this.#reader.reads(AnySchema, value)) return undefined;
    const { "@type": url, ...message } = value;
    const known = typeUrlOf(valueTypeOf(url, pathUnder(path, "@type")));
    const name = known.slice(known.lastIndexOf("/") + 1);
    const schema = must(this.#reader.registry.getMessage(name), `${name} is a message`);
    return yield* this.ofMessage(schema, { path, value: message });
  }

  /** The value of a list or a map is looked at item by item. */
  *#ofField(field: DescField, { path, value }: PlacedValue): FaultSearch {
    switch (field.fieldKind) {
      case "list":
        if (!Array.isArray(value)) return wrongKind({ path, value }, "an array");
        for (const [index, item] of value.entries()) {
          const placed = { path: `${path}[${index}]`, value: item };
          const fault = yield* this.#ofItem(field, [item], placed);
          if (fault !== undefined) return fault;
        }
        return undefined;
      case "map":
        if (!isJsonObject(value)) return wrongKind({ path, value }, "an object");
        for (const [key, item] of Object.entries(value)) {
          const alone = Object.fromEntries([[key, item]]);
          const fault = yield* this.#ofItem(field, alone, {
            path: pathUnder(path, key),
            value: item,
          });
          if (fault !== undefined) return fault;
        }
        return undefined;
      default:
        return yield* this.#ofItem(field, value, { path, value });
    }
  }

  /** `alone` is the value of the field if it has this item and no other. */
  *#ofItem(field: DescField, alone: JsonValue, item: PlacedValue): FaultSearch {
    if (this.#pace.step()) yield;
    if (field.message !== undefined) return yield* this.ofMessage(field.message, item);
    const fits = this.#reader.reads(field.parent, { [field.jsonName]: alone });
    return fits ? undefined : wrongKind(item, kindOf(field));
  }
}

function kindOf({ scalar, enum: enumeration }: DescField): string {
  if (enumeration !== undefined) {
    return `one of ${enumeration.values.map(({ name }) => name).join(", ")}`;
  }
  switch (scalar) {
    case ScalarType.STRING:
      return "a text";
    case ScalarType.BOOL:
      return "true or false";
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return "an integer of 32 bits";
    case ScalarType.DOUBLE:
      return 'a number, "NaN", "Infinity" or "-Infinity"';
    default:
      return "a value of its kind";
  }
}

function wrongKind({ path, value }: PlacedValue, expected: string): PembaError {
  return invalidField(path === "" ? "body" : path, `${describeJson(value)} is not ${expected}`);
}

/** Whether a value of JSON is an object. */
export function isJsonObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
