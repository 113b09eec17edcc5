import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";

import { PembaError } from "../base/error.ts";

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

/** Encodes a message. Omitted fields have the defaults of their types. */
export function encodeMessage<D extends DescMessage>(
  schema: D,
  message: MessageInitShape<D>,
): Buffer {
  const bytes = toBinary(schema, create(schema, message));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
