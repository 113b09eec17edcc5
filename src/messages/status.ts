import { create, type MessageShape } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";

import type { ErrorDetail, PembaError } from "../base/error.ts";
import { statusOf } from "../base/status.ts";
import { PreconditionFailureSchema } from "../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";

/** A precondition that failed. */
export interface Violation {
  readonly type: string;
  readonly subject: string;
  readonly description: string;
}

/** What a status says of an error. */
export interface StatusParts {
  readonly code: number;
  readonly message: string;
  /** The preconditions that failed; otherwise none. */
  readonly violations: readonly Violation[];
}

/** The code of the error's kind, its message as well-formed text, and the preconditions that failed. */
export function statusParts(error: PembaError): StatusParts {
  return {
    code: statusOf[error.kind].grpc,
    message: error.message.toWellFormed(),
    violations: error.code === "PRECONDITION_FAILED" ? error.details.map(violationOf) : [],
  };
}

function violationOf({ field, message }: ErrorDetail): Violation {
  return { type: "PRECONDITION", subject: field ?? "", description: message.toWellFormed() };
}

/** A `google.rpc.Status`, with a `google.rpc.PreconditionFailure` if preconditions failed. */
export function statusMessage(parts: StatusParts): MessageShape<typeof StatusSchema> {
  const { code, message, violations } = parts;
  if (violations.length === 0) return create(StatusSchema, { code, message });
  const failure = create(PreconditionFailureSchema, { violations: [...violations] });
  const details = [anyPack(PreconditionFailureSchema, failure)];
  return create(StatusSchema, { code, message, details });
}
