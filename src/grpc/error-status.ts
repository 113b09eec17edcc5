import { create, toBinary } from "@bufbuild/protobuf";
import { Metadata, type StatusObject } from "@grpc/grpc-js";

import type { PembaError } from "../base/error.ts";
import { PreconditionFailureSchema } from "../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";
import { statusMessage, statusParts, type Violation } from "../messages/status.ts";

/** The message is sent in a header. Clients fail if all headers exceed about 8 KiB. */
const maxMessageBytes = 2_048;

/**
 * Where there are details: of the message, of the message in the details, and of the preconditions,
 * before these are encoded as text of 4 / 3 of their length.
 */
const maxMessageBesideBytes = 1_024;
const maxMessageWithinBytes = 256;
const maxViolationBytes = 4_600;

/** Where gRPC clients look for more than the message. */
const detailsHeader = "grpc-status-details-bin";

/**
 * The status of a failed call: the code of the error's kind, and its message. The message is made
 * well-formed: the library encodes it as a URI, and for half a character that throws where nothing
 * catches it. If preconditions failed, the metadata has all of them.
 */
export function errorStatus(
  error: PembaError,
): Pick<StatusObject, "code" | "details"> & Partial<Pick<StatusObject, "metadata">> {
  const { code, message, violations } = statusParts(error);
  if (violations.length === 0) return { code, details: cut(message, maxMessageBytes) };
  const within = cut(message, maxMessageWithinBytes);
  const status = statusMessage({ code, message: within, violations: cutViolations(violations) });
  const metadata = new Metadata();
  metadata.set(detailsHeader, Buffer.from(toBinary(StatusSchema, status)));
  return { code, details: cut(message, maxMessageBesideBytes), metadata };
}

/** Counts the bytes of the header, where a byte outside of ASCII takes three. */
function cut(message: string, maxBytes: number): string {
  if (encodeURIComponent(message).length <= maxBytes) return message;
  let bytes = 0;
  let kept = "";
  for (const character of message) {
    bytes += encodeURIComponent(character).length;
    if (bytes > maxBytes) break;
    kept += character;
  }
  return `${kept}...`;
}

/** Each keeps its field. What was found is told of the first ones, as far as there is room. */
function cutViolations(violations: readonly Violation[]): readonly Violation[] {
  const subjects = violations.map((violation) => ({ ...violation, description: "" }));
  let left = maxViolationBytes - sizeOf(subjects);
  return violations.map((violation) => {
    left -= sizeOf([{ type: "", subject: "", description: violation.description }]);
    return left < 0 ? { ...violation, description: "" } : violation;
  });
}

function sizeOf(violations: readonly Violation[]): number {
  const failure = create(PreconditionFailureSchema, { violations: [...violations] });
  return toBinary(PreconditionFailureSchema, failure).length;
}
