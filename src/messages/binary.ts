import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";

import { PembaError } from "../base/error.ts";
import { isFields, plainWriteOf } from "./plain-writer.ts";

/**
 * The deepest nesting of messages. It is higher than the nesting limit of context data, so that the
 * error of that limit is reported.
 */
export const recursionLimit = 256;

/** Decodes a request, or a value within one. `field` is its path. Fails with VALIDATION. */
export function decodeMessage<D extends DescMessage>(
  schema: D,
  bytes: Uint8Array,
  field: string,
): MessageShape<D> {
  try {
    return fromBinary(schema, bytes, { recursionLimit });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PembaError("VALIDATION", `${field}: is no ${schema.typeName}: ${why}`, {
      details: [{ field, message: `is no ${schema.typeName}` }],
      cause,
    });
  }
}

/** After a longer message, in bytes, the memory of the writer is given back. */
const keptBytes = 64 * 1024;

/** One message is written after the other, and all by one writer. */
let shared = new BinaryWriter();

/**
 * Encodes a message. Omitted fields have the defaults of their types. Fields that its type does not know may be left
 * out.
 */
export function encodeMessage<D extends DescMessage>(
  schema: D,
  message: MessageInitShape<D>,
): Buffer {
  const write = plainWriteOf(schema);
  if (write === undefined || !isFields(message)) {
    return bufferOf(toBinary(schema, create(schema, message)));
  }
  const writer = shared;
  // One that failed is not used again.
  shared = new BinaryWriter();
  write(writer, message);
  const bytes = writer.finish();
  if (bytes.length <= keptBytes) shared = writer;
  return bufferOf(bytes);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
