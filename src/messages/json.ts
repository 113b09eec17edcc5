import {
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";

import { assert } from "../base/assert.ts";
import { PembaError } from "../base/error.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { file_base_v1_value } from "../gen/base/v1/value_pb.ts";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { recursionLimit } from "./binary.ts";
import { isJsonObject, JsonFault } from "./json-fault.ts";

/** The messages that an Any may contain. */
const registry = createRegistry(file_base_v1_value, file_google_rpc_error_details);

const readOptions = { ignoreUnknownFields: true, recursionLimit, registry };

/** Fields without a value are written with the default of their type, as gateways do. */
const writeOptions = { alwaysEmitImplicit: true, registry };

/**
 * Decodes a request from the canonical JSON of protobuf. Unknown fields are ignored. Fails with
 * VALIDATION, naming the field, which is looked for in steps.
 */
export function* decodeJson<D extends DescMessage>(
  schema: D,
  json: JsonValue,
): Steps<MessageShape<D>> {
  try {
    return fromJson(schema, json, readOptions);
  } catch (cause) {
    const faults = new JsonFault({ reads: isReadable, registry });
    const fault = yield* faults.ofMessage(schema, { path: "", value: json });
    if (fault !== undefined) throw fault;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PembaError("VALIDATION", `body: is no ${schema.typeName}: ${why}`, { cause });
  }
}

function isReadable(schema: DescMessage, json: JsonValue): boolean {
  try {
    fromJson(schema, json, readOptions);
    return true;
  } catch {
    return false;
  }
}

/**
 * Encodes a message in the canonical JSON of protobuf, in steps, because a page may have thousands of
 * messages. What is not set is written too: as the default of its type, and a message as null.
 */
export function* encodeJson<D extends DescMessage>(
  schema: D,
  message: MessageInitShape<D>,
): Steps<JsonValue> {
  return yield* encode(reflect(schema, create(schema, message)), new Pace());
}

function* encode(message: ReflectMessage, pace: Pace): Steps<JsonValue> {
  if (pace.step()) yield;
  const { desc } = message;
  // Types of google.protobuf have a JSON of their own.
  if (desc.typeName.startsWith("google.protobuf.") || !desc.fields.some(holdsMessages)) {
    return toJson(desc, message.message, writeOptions);
  }
  const own = ownValues(message);
  const json: JsonObject = {};
  for (const field of desc.fields) {
    const value = holdsMessages(field)
      ? yield* encodePart(message, field, pace)
      : own[field.jsonName];
    if (value !== undefined) json[field.jsonName] = value;
  }
  return json;
}

/** A field whose value is a message, or a list or a map of messages. */
type PartField = DescField & { readonly message: DescMessage };

function holdsMessages(field: DescField): field is PartField {
  return field.message !== undefined;
}

/** The fields of a message without those that hold messages. */
function ownValues(message: ReflectMessage): JsonObject {
  const { desc } = message;
  const own = reflect(desc);
  for (const field of desc.fields) {
    if (!holdsMessages(field) && message.isSet(field)) own.set(field, message.get(field));
  }
  const json = toJson(desc, own.message, writeOptions);
  assert(isJsonObject(json), `${desc.typeName} is an object in JSON`);
  return json;
}

/** Undefined if the field is left out: a member of a oneof that is not set. */
function* encodePart(
  message: ReflectMessage,
  field: PartField,
  pace: Pace,
): Steps<JsonValue | undefined> {
  switch (field.fieldKind) {
    case "message":
      if (message.isSet(field)) return yield* encode(message.get(field), pace);
      return field.oneof === undefined ? null : undefined;
    case "list": {
      const items: JsonValue[] = [];
      for (const item of message.get(field)) items.push(yield* encodeItem(item, pace));
      return items;
    }
    case "map": {
      const entries: [string, JsonValue][] = [];
      for (const [key, item] of message.get(field)) {
        entries.push([String(key), yield* encodeItem(item, pace)]);
      }
      // Defines keys, so that a name such as `__proto__` is an ordinary key.
      return Object.fromEntries(entries);
    }
  }
}

function* encodeItem(item: unknown, pace: Pace): Steps<JsonValue> {
  assert(isReflectMessage(item), "an item is a message");
  return yield* encode(item, pace);
}
