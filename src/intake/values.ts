import { fieldError, type PembaError } from "../base/error.ts";

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const openBrace = 0x7b;

/**
 * Counts the values, keys and brackets in a text of JSON, without making any of them. It stops when it
 * has counted more than `max`. Bytes that are no JSON have some count, too.
 */
export function countJsonValues(bytes: Uint8Array, max: number): number {
  let count = 1;
  let isText = false;
  for (let at = 0; at < bytes.length && count <= max; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isText = false;
    } else if (byte === quote) {
      isText = true;
    } else if (byte === comma || byte === colon || byte === openBracket || byte === openBrace) {
      count += 1;
    }
  }
  return count;
}

/** The error of a body that holds more values than may be read. */
export function tooManyValues(max: number): PembaError {
  return fieldError(
    "PAYLOAD_TOO_LARGE",
    "body",
    `holds too many keys and values, expected at most ${max} (\`server.value_limit\`)`,
  );
}
