import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Metadata, type StatusObject } from "@grpc/grpc-js";

import type { ErrorDetail, PembaError } from "../base/error.ts";
import { statusOf } from "../base/status.ts";
import { PreconditionFailureSchema } from "../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";

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
  const code = statusOf[error.kind].grpc;
  const message = error.message.toWellFormed();
  if (error.code !== "PRECONDITION_FAILED" || error.details.length === 0) {
    return { code, details: cut(message, maxMessageBytes) };
  }
  const metadata = new Metadata();
  const within = cut(message, maxMessageWithinBytes);
  metadata.set(detailsHeader, statusDetails(code, within, error.details));
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

/** A `google.rpc.Status` with a `google.rpc.PreconditionFailure`. */
function statusDetails(code: number, message: string, details: readonly ErrorDetail[]): Buffer {
  const failure = create(PreconditionFailureSchema, { violations: violationsOf(details) });
  const packed = anyPack(PreconditionFailureSchema, failure);
  const status = create(StatusSchema, { code, message, details: [packed] });
  return Buffer.from(toBinary(StatusSchema, status));
}

type Violations = NonNullable<MessageInitShape<typeof PreconditionFailureSchema>["violations"]>;

/** Each names its field. What was found is told of the first ones, as far as there is room. */
function violationsOf(details: readonly ErrorDetail[]): Violations {
  const type = "PRECONDITION";
  const subjects = details.map(({ field }) => ({ type, subject: field ?? "" }));
  let left = maxViolationBytes - sizeOf(subjects);
  return subjects.map((violation, index) => {
    const description = details[index]?.message.toWellFormed() ?? "";
    left -= sizeOf([{ description }]);
    return left < 0 ? violation : { ...violation, description };
  });
}

function sizeOf(violations: Violations): number {
  return toBinary(PreconditionFailureSchema, create(PreconditionFailureSchema, { violations }))
    .length;
}
