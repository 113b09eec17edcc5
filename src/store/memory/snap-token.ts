import { isMacOf, type TokenMac } from "../../base/token-mac.ts";
import type { SnapToken } from "../../base/tuple.ts";
import { invalidSnapToken, malformedSnapToken } from "../store-error.ts";
import type { Revision } from "./revision.ts";

/** The first byte; those of the other engine begin with another one. */
const layout = 3;
const engineLength = 8;
const revisionLength = 6;
const macLength = 8;
const bodyLength = 1 + engineLength + revisionLength;

/** Whose tokens they are. */
export interface TokenMaker {
  /** Eight random bytes of this process, as hexadecimal. */
  readonly engine: string;
  readonly mac: TokenMac;
}

/** The token of a state. */
export function encodeRevision({ engine, mac }: TokenMaker, revision: Revision): SnapToken {
  const body = Buffer.alloc(bodyLength);
  body.writeUInt8(layout, 0);
  body.write(engine, 1, "hex");
  body.writeUIntBE(revision, 1 + engineLength, revisionLength);
  const code = mac(body).subarray(0, macLength);
  // The one place where the text becomes a token of this engine.
  return Buffer.concat([body, code]).toString("base64url") as SnapToken;
}

/** The state that a token names. Fails with INVALID_SNAP_TOKEN when it is none of this engine's. */
export function decodeRevision({ engine, mac }: TokenMaker, token: SnapToken): Revision {
  const bytes = Buffer.from(token, "base64url");
  const body = bytes.subarray(0, bodyLength);
  const isWhole =
    bytes.toString("base64url") === token &&
    bytes.length === bodyLength + macLength &&
    body[0] === layout &&
    isMacOf(mac, body, bytes.subarray(bodyLength));
  if (!isWhole) throw invalidSnapToken(malformedSnapToken);
  if (body.subarray(1, 1 + engineLength).toString("hex") !== engine) {
    throw invalidSnapToken("is of another database, or of this one before its last start");
  }
  return body.readUIntBE(1 + engineLength, revisionLength);
}
