import { hash } from "node:crypto";

import type { SnapToken } from "../../base/tuple.ts";
import { invalidSnapToken } from "../store-error.ts";
import type { Revision } from "./revision.ts";

/** The first byte; those of the other engine begin with another one. */
const layout = 2;
const engineLength = 8;
const revisionLength = 6;
const checksumLength = 4;
const bodyLength = 1 + engineLength + revisionLength;

/** The token of a state. `engine` is eight random bytes of this process, as hexadecimal. */
export function encodeRevision(engine: string, revision: Revision): SnapToken {
  const body = Buffer.alloc(bodyLength);
  body.writeUInt8(layout, 0);
  body.write(engine, 1, "hex");
  body.writeUIntBE(revision, 1 + engineLength, revisionLength);
  const text = Buffer.concat([body, checksum(body)]).toString("base64url");
  // The one place where the text becomes a token of this engine.
  return text as SnapToken;
}

/** The state that a token names. Fails with INVALID_SNAP_TOKEN when it is none of this engine's. */
export function decodeRevision(engine: string, token: SnapToken): Revision {
  const bytes = Buffer.from(token, "base64url");
  const body = bytes.subarray(0, bodyLength);
  const isWhole =
    bytes.toString("base64url") === token &&
    bytes.length === bodyLength + checksumLength &&
    body[0] === layout &&
    checksum(body).equals(bytes.subarray(bodyLength));
  if (!isWhole) throw invalidSnapToken("is malformed, expected a token of an earlier answer");
  if (body.subarray(1, 1 + engineLength).toString("hex") !== engine) {
    throw invalidSnapToken("is of another database, or of this one before its last start");
  }
  return body.readUIntBE(1 + engineLength, revisionLength);
}

function checksum(body: Uint8Array): Buffer {
  return hash("sha256", body, "buffer").subarray(0, checksumLength);
}
