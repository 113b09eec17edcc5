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
 * How deep messages may stand in one another. Higher than what the nesting limit of context data
 * needs, so that its own error is the one that is told.
 */
const recursionLimit = 256;

/** Reads a request, or a value within one; `field` is where it stands. Fails with VALIDATION. */
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

/** Fields that are left out have the defaults of their types. */
export function encodeMessage<D extends DescMessage>(
  schema: D,
  message: MessageInitShape<D>,
): Buffer {
  const bytes = toBinary(schema, create(schema, message));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
