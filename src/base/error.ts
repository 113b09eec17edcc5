/**
 * The kind of an error, named after the gRPC status, or after the HTTP status where that says more.
 * Both statuses follow from it alone.
 */
export type ErrorKind =
  | "cancelled"
  | "invalid_argument"
  | "deadline_exceeded"
  | "not_found"
  | "already_exists"
  | "resource_exhausted"
  | "payload_too_large"
  | "method_not_allowed"
  | "failed_precondition"
  | "precondition_failed"
  | "aborted"
  | "unimplemented"
  | "internal"
  | "unavailable"
  | "unauthenticated"
  | "permission_denied";

/** Every error that a client can see. Clients match on the code, which begins the message. */
export const errorCodes = {
  MISSING_BEARER_TOKEN: "unauthenticated",
  INVALID_AUDIENCE: "unauthenticated",
  INVALID_CLAIMS: "unauthenticated",
  INVALID_ISSUER: "unauthenticated",
  INVALID_BEARER_TOKEN: "unauthenticated",
  INVALID_KEY: "unauthenticated",
  INSUFFICIENT_SCOPE: "permission_denied",
  TENANT_NOT_ALLOWED: "permission_denied",
  VALIDATION: "invalid_argument",
  ENTITY_AND_SUBJECT_CANNOT_BE_EQUAL: "invalid_argument",
  DEPTH_NOT_ENOUGH: "invalid_argument",
  SCHEMA_PARSE: "invalid_argument",
  SCHEMA_COMPILE: "invalid_argument",
  UNIQUE_CONSTRAINT: "already_exists",
  INVALID_CONTINUOUS_TOKEN: "invalid_argument",
  INVALID_SNAP_TOKEN: "invalid_argument",
  SNAP_TOKEN_EXPIRED: "failed_precondition",
  INVALID_ARGUMENT: "invalid_argument",
  MISSING_ARGUMENT: "invalid_argument",
  ALREADY_EXIST: "invalid_argument",
  MAX_DATA_PER_WRITE_EXCEEDED: "invalid_argument",
  ENTITY_TYPE_NOT_FOUND: "invalid_argument",
  PERMISSION_NOT_FOUND: "invalid_argument",
  SUBJECT_TYPE_NOT_FOUND: "invalid_argument",
  RELATION_DEFINITION_NOT_FOUND: "invalid_argument",
  ATTRIBUTE_DEFINITION_NOT_FOUND: "invalid_argument",
  ATTRIBUTE_TYPE_MISMATCH: "invalid_argument",
  RULE_EVALUATION: "invalid_argument",
  UNDEFINED_RESULT: "invalid_argument",
  ENTITY_STATEMENT_NOT_FOUND: "invalid_argument",
  REFERENCE_NOT_FOUND: "invalid_argument",
  GATHER_LIMIT_EXCEEDED: "failed_precondition",
  PRECONDITION_FAILED: "precondition_failed",
  RELATION_DERIVED: "failed_precondition",
  NOT_FOUND: "not_found",
  TENANT_NOT_FOUND: "not_found",
  SCHEMA_NOT_FOUND: "not_found",
  BUNDLE_NOT_FOUND: "not_found",
  RATE_LIMIT_EXCEEDED: "resource_exhausted",
  CONCURRENCY_LIMIT_EXCEEDED: "resource_exhausted",
  PAYLOAD_TOO_LARGE: "payload_too_large",
  METHOD_NOT_ALLOWED: "method_not_allowed",
  CANCELLED: "cancelled",
  DEADLINE_EXCEEDED: "deadline_exceeded",
  NOT_IMPLEMENTED: "unimplemented",
  SERIALIZATION: "aborted",
  CHANGE_BLOCKED: "aborted",
  MIGRATION: "failed_precondition",
  UNAVAILABLE: "unavailable",
  CIRCUIT_BREAKER: "unavailable",
  INTERNAL: "internal",
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorCodes;

/** Codes of a question without an answer. Another one about the same entity and subject may have one. */
export const unansweredCodes: ReadonlySet<string | undefined> = new Set<ErrorCode>([
  "ATTRIBUTE_TYPE_MISMATCH",
  "DEPTH_NOT_ENOUGH",
  "GATHER_LIMIT_EXCEEDED",
  "RULE_EVALUATION",
  "UNDEFINED_RESULT",
]);

/** One of the faults of a request, as it stands in the `details` of an error body. */
export interface ErrorDetail {
  /** JSON path of the field in the request, such as `tuples[3].relation`. */
  readonly field?: string;
  /** 1-based position in the schema text, if the fault is in one. */
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/**
 * The only error type of Pemba: a mistake of the client, a failure outside the process, or a bug.
 */
export class PembaError extends Error {
  override readonly name = "PembaError";
  readonly code: ErrorCode;
  /** The message without the name of the code. */
  readonly plainMessage: string;
  readonly details: readonly ErrorDetail[];

  constructor(
    code: ErrorCode,
    plainMessage: string,
    options: { readonly details?: readonly ErrorDetail[]; readonly cause?: unknown } = {},
  ) {
    super(
      `ERROR_CODE_${code}: ${plainMessage}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.plainMessage = plainMessage;
    this.details = options.details ?? [];
  }

  get kind(): ErrorKind {
    return errorCodes[this.code];
  }
}

/** An error about one field of the request, named by its JSON path. */
export function fieldError(code: ErrorCode, field: string, problem: string): PembaError {
  return new PembaError(code, `${field}: ${problem}`, { details: [{ field, message: problem }] });
}

/** The message for a change that was sent and got no answer. */
export const unsureChange = "the change may be made or may not, the same request can be sent again";

/** The error for a request that its caller has left. */
export function cancelled(cause: unknown): PembaError {
  return new PembaError("CANCELLED", "the client no longer waits", { cause });
}

/**
 * Turns anything thrown into an error that a client may see. The cause of an internal fault is not
 * shown to clients.
 */
export function errorOf(thrown: unknown): PembaError {
  if (thrown instanceof PembaError) return thrown;
  return new PembaError("INTERNAL", "the request failed because of a fault in the server", {
    cause: thrown,
  });
}

/** Why something failed, for an operator: with the message of the first cause, which clients do not get. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof PembaError)) return String(error);
  const { plainMessage } = error;
  const cause = messageOfFirst(error.cause);
  return cause === "" || plainMessage.includes(cause) ? plainMessage : `${plainMessage} (${cause})`;
}

/** The message of the cause that has none itself. Empty if there is none. */
function messageOfFirst(cause: unknown): string {
  if (!(cause instanceof Error)) return "";
  // One for several tried addresses has no message of its own.
  if (cause instanceof AggregateError) return messageOfFirst(cause.errors[0]);
  const first = messageOfFirst(cause.cause);
  if (first !== "") return first;
  return cause instanceof PembaError ? cause.plainMessage : cause.message;
}
