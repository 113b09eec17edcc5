import type { JsonValue } from "@bufbuild/protobuf";
import type { Static } from "typebox";

import type { PembaError } from "../base/error.ts";
import { statusOf } from "../base/status.ts";
import { runThrough } from "../base/steps.ts";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";
import { encodeJson } from "../messages/json.ts";
import { statusMessage, statusParts } from "../messages/status.ts";
import type { errorAnswer } from "./shapes/error.ts";

/** Limits refill within a second, and an unreachable database is tried every second. */
export const retryAfterSeconds = 1;

/** Whether the same request may succeed a little later. */
export function isTransient({ kind }: PembaError): boolean {
  return kind === "resource_exhausted" || kind === "unavailable";
}

/** The part of an error that clients may see. */
export function errorBody(error: PembaError): Static<typeof errorAnswer> {
  return { code: statusOf[error.kind].grpc, message: error.message, details: error.details };
}

/** The same in the JSON of protobuf. */
export function statusBody(error: PembaError): JsonValue {
  return runThrough(encodeJson(StatusSchema, statusMessage(statusParts(error))));
}
