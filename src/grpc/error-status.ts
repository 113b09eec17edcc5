import type { StatusObject } from "@grpc/grpc-js";

import type { PembaError } from "../base/error.ts";
import { statusOf } from "../base/status.ts";

/** The message is sent in a header. Clients fail if all headers exceed about 8 KiB. */
const maxMessageBytes = 2_048;

/**
 * The status of a failed call: the code of the error's kind, and its message. The message is made
 * well-formed: the library encodes it as a URI, and for half a character that throws where nothing
 * catches it.
 */
export function errorStatus(error: PembaError): Pick<StatusObject, "code" | "details"> {
  return { code: statusOf[error.kind].grpc, details: cut(error.message.toWellFormed()) };
}

/** Counts the bytes of the header, where a byte outside of ASCII takes three. */
function cut(message: string): string {
  if (encodeURIComponent(message).length <= maxMessageBytes) return message;
  let bytes = 0;
  let kept = "";
  for (const character of message) {
    bytes += encodeURIComponent(character).length;
    if (bytes > maxMessageBytes) break;
    kept += character;
  }
  return `${kept}...`;
}
