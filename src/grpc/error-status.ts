import type { StatusObject } from "@grpc/grpc-js";

import type { PembaError } from "../base/error.ts";
import { statusOf } from "../base/status.ts";

/** A message travels in a header; beyond some 8 KiB of headers clients give up on the answer. */
const maxMessageBytes = 2_048;

/** How a call that failed ends: the code of the error's kind, and its message. */
export function errorStatus(error: PembaError): Pick<StatusObject, "code" | "details"> {
  return { code: statusOf[error.kind].grpc, details: cut(error.message) };
}

/** Counted as the header spells it, where a byte outside of ASCII takes three. */
function cut(message: string): string {
  if (encodeURIComponent(message.toWellFormed()).length <= maxMessageBytes) return message;
  let bytes = 0;
  let kept = "";
  for (const character of message.toWellFormed()) {
    bytes += encodeURIComponent(character).length;
    if (bytes > maxMessageBytes) break;
    kept += character;
  }
  return `${kept}...`;
}
