import type { ErrorKind } from "./error.ts";

/** How the two transports show one kind of error. */
export interface Status {
  readonly http: number;
  /** The number of the gRPC status, which is also the `code` of a REST error body. */
  readonly grpc: number;
}

/** The only place that maps the kind of an error to numbers. */
export const statusOf: Readonly<Record<ErrorKind, Status>> = {
  cancelled: { http: 499, grpc: 1 },
  invalid_argument: { http: 400, grpc: 3 },
  deadline_exceeded: { http: 504, grpc: 4 },
  not_found: { http: 404, grpc: 5 },
  already_exists: { http: 409, grpc: 6 },
  resource_exhausted: { http: 429, grpc: 8 },
  payload_too_large: { http: 413, grpc: 8 },
  method_not_allowed: { http: 405, grpc: 12 },
  failed_precondition: { http: 400, grpc: 9 },
  precondition_failed: { http: 412, grpc: 9 },
  aborted: { http: 409, grpc: 10 },
  unimplemented: { http: 501, grpc: 12 },
  internal: { http: 500, grpc: 13 },
  unavailable: { http: 503, grpc: 14 },
  unauthenticated: { http: 401, grpc: 16 },
  permission_denied: { http: 403, grpc: 7 },
};
