import postgres from "postgres";

import { PembaError, unsureChange } from "../../../base/error.ts";

/**
 * No connection came about, or the one there was had ended before anything was written to it, so no
 * statement was sent; the next try may find the server.
 */
const unreachedFaults: readonly string[] = [
  "CONNECTION_UNOPENED",
  "ERR_STREAM_WRITE_AFTER_END",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
];

/** A connection ended, perhaps in the middle of a statement. */
const lostFaults: readonly string[] = [
  "ERR_STREAM_DESTROYED",
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
];

/** Faults of the route to the server, as the driver and the operating system name them. */
const connectionFaults: ReadonlySet<string> = new Set([
  ...unreachedFaults,
  ...lostFaults,
  "ENOENT",
  "EACCES",
]);

/** All connections of a server, of its database or of the role are in use. */
const fullState = "53300";

/** A server that is full or starting up refuses the connection. */
const refusingStates = /^(53300|57P03)$/;

/** A server that ends a connection at any moment. */
const endingStates = /^(08...|57P0[125])$/;

/** The pool itself ended these: it is closing. */
const closingFaults: ReadonlySet<string> = new Set(["CONNECTION_DESTROYED", "CONNECTION_ENDED"]);

/**
 * SQLSTATEs of a server that cannot serve now: connection exceptions, a standby that does not write
 * (any more), out of resources, shutting down.
 */
const unavailableStates = /^(08...|25006|53...|57P0[1-5]|58...)$/;

/** A server that had not enough of something for this statement, and may have for others. */
const exhaustedStates = /^53[0124]00$/;

/** A standby, or a server whose transactions are read-only, that was to write. */
const readOnlyState = "25006";

/** A fault of the files or the system of a server, which answers with it. */
const systemStates = /^58...$/;

/** No such role, a wrong password, no entry in `pg_hba.conf`, no such database. */
const refusedLoginStates = /^(28...|3D000)$/;

/**
 * A role that may not connect, a database that takes no connections. Of a statement these mean something
 * else, so they count only if they end the connection.
 */
const fatalLoginStates = /^(42501|55000)$/;

/** How the runtime names it that TLS did not come about, or that a certificate is not trusted. */
const tlsFaults = /CERT|SIGNATURE|^ERR_(TLS|SSL|OSSL)|^EPROTO$/;

/** Serialization failure and deadlock: nothing was done, and the same may work at once. */
const repeatableStates: ReadonlySet<string> = new Set(["40001", "40P01"]);

const noWriter = "no server of the database accepts writes";

/** Another one held a lock for longer than the `lock_timeout` that is set. */
const lockTimeoutState = "55P03";

/** A statement names a schema of the database that is not there. */
const missingSchemaState = "3F000";

/** What a statement would write, or names to delete, is derived by a map. */
const derivedState = "PB006";

/** A statement is cancelled by us, by an operator, or by the `statement_timeout` that one has set. */
const cancelledState = "57014";

/** Poolers and servers that refuse parameters which they do not know say one of these. */
const refusedParameterStates: ReadonlySet<string> = new Set(["08P01", "42704", "55P02", "0A000"]);

/**
 * The error of the table for what the driver threw: UNAVAILABLE when the server cannot be reached
 * or cannot serve, SERIALIZATION when others were in its way, CHANGE_BLOCKED when one was for longer
 * than it was to wait, DEADLINE_EXCEEDED when it was cancelled there, RELATION_DERIVED when a map
 * derives what it would change, else INTERNAL. Its text shows nothing of the inside; the cause does.
 */
export function storageError(error: unknown): PembaError {
  if (error instanceof PembaError) return error;
  const code = codeOf(error);
  if (code !== undefined && (connectionFaults.has(code) || unavailableStates.test(code))) {
    return new PembaError("UNAVAILABLE", whyUnavailable(code), { cause: error });
  }
  if (isRefusedLogin(error)) {
    return new PembaError("UNAVAILABLE", refusedConnection, { cause: error });
  }
  if (code !== undefined && tlsFaults.test(code)) {
    const message = "the certificate of the database is not accepted";
    return new PembaError("UNAVAILABLE", message, { cause: error });
  }
  if (code === derivedState) {
    const message = "tables of an application say what this names, change their rows";
    return new PembaError("RELATION_DERIVED", message, { cause: error });
  }
  if (code === lockTimeoutState) {
    const message = "another request holds a lock that this one needs, retry";
    return new PembaError("CHANGE_BLOCKED", message, { cause: error });
  }
  if (code !== undefined && repeatableStates.has(code)) {
    return new PembaError("SERIALIZATION", "concurrent requests conflicted, retry", {
      cause: error,
    });
  }
  if (code === cancelledState) {
    const message = "the database cancelled the request before it was done, it may be too slow";
    return new PembaError("DEADLINE_EXCEEDED", message, { cause: error });
  }
  return new PembaError("INTERNAL", "the database failed to run a statement", { cause: error });
}

const refusedConnection = "the database refuses the connection";

function isRefusedLogin(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return false;
  return refusedLoginStates.test(code) || (fatalLoginStates.test(code) && isFatal(error));
}

/** Does the server end the connection with this error, or not let it begin? */
function isFatal(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.severity === "FATAL";
}

function whyUnavailable(code: string): string {
  if (code === readOnlyState) return noWriter;
  if (code === fullState) return "the database takes no more connections";
  if (exhaustedStates.test(code))
    return "the database lacks disk space, memory or another resource for this";
  if (systemStates.test(code)) return "the database failed for a fault of its system";
  return "the database does not answer";
}

/**
 * How far a statement got that failed:
 * - `conflict`: it was undone because of another one;
 * - `unreached`: it never came to the server;
 * - `lost`: it may have been done, the answer did not come;
 * - `closing`: the same, and the pool is closing, so no other will come;
 * - `other`: it was undone for a reason that another try would meet again.
 */
export type DriverFault = "conflict" | "unreached" | "lost" | "closing" | "other";

/** The fault behind an error of this storage. */
export function faultOf(error: unknown): DriverFault {
  const code = error instanceof PembaError ? codeOf(error.cause) : undefined;
  if (code === undefined) return "other";
  if (repeatableStates.has(code)) return "conflict";
  if (unreachedFaults.includes(code) || refusingStates.test(code)) return "unreached";
  if (closingFaults.has(code)) return "closing";
  return lostFaults.includes(code) || endingStates.test(code) ? "lost" : "other";
}

/**
 * Could the server not be reached, or did it go away? Not when it answered, if only with an error:
 * one that refuses a statement, or ends it for taking too long, is there.
 */
export function isOutage(error: unknown): boolean {
  const code = error instanceof PembaError ? codeOf(error.cause) : undefined;
  if (code === undefined || closingFaults.has(code)) return false;
  return connectionFaults.has(code) || refusingStates.test(code) || endingStates.test(code);
}

/**
 * Does an error that is no outage show that the server is there? Not when the caller has left, nor
 * when no connection or no answer came in time: a server that ends a statement late is there.
 */
export function isAnswer(error: unknown): boolean {
  if (!(error instanceof PembaError)) return true;
  if (error.code !== "DEADLINE_EXCEEDED") return error.kind !== "cancelled";
  return isCancelled(error) || isCancelled(error.cause);
}

/**
 * Would another statement for the same tenant and state fail so, over the same route? A fault of ours, a
 * statement that took too long, and one for which the server had not the disk or the memory may be alone.
 */
export function isOfAll(error: unknown): boolean {
  if (!(error instanceof PembaError) || isExhausted(error)) return false;
  return error.kind !== "internal" && error.kind !== "deadline_exceeded";
}

/** Did the server lack disk, memory or another limited resource for the statement? */
function isExhausted(error: unknown): boolean {
  const code = error instanceof PembaError ? codeOf(error.cause) : undefined;
  return code !== undefined && exhaustedStates.test(code);
}

/** Did a server that cannot do it now answer the statement? Then it has undone it. */
export function isRefused(error: unknown): boolean {
  const code = error instanceof PembaError ? codeOf(error.cause) : undefined;
  if (code === undefined) return false;
  return code === readOnlyState || exhaustedStates.test(code) || systemStates.test(code);
}

/** Does a statement name a schema of the database that is not there? */
export function lacksSchema(error: unknown): boolean {
  return error instanceof PembaError && codeOf(error.cause) === missingSchemaState;
}

/** Does the server refuse the login, or not have the database? Waiting mends neither. */
export function refusesLogin(error: unknown): boolean {
  return error instanceof PembaError && isRefusedLogin(error.cause);
}

/** No host of the URI is a server that writes. */
export function standbysOnly(): PembaError {
  const cause = coded(readOnlyState, "the server is a standby");
  return new PembaError("UNAVAILABLE", noWriter, { cause });
}

/** What becomes of a statement to which a server that is gone without a word gives no answer. */
export function silence(): PembaError {
  const cause = Object.assign(new Error("no answer came"), { code: "ETIMEDOUT" });
  return new PembaError("UNAVAILABLE", "the database does not answer", { cause });
}

/** Fails for a statement that got no connection: it was not sent, even if the connection made for it was lost. */
export function failUnsent(error: unknown): never {
  if (!(error instanceof PembaError) || faultOf(error) !== "lost") throw error;
  const { code, plainMessage, cause } = error;
  const reason = cause instanceof Error ? cause.message : plainMessage;
  const unopened = Object.assign(new Error(reason, { cause }), { code: "CONNECTION_UNOPENED" });
  throw new PembaError(code, plainMessage, { cause: unopened });
}

/** Nothing more is asked of a pool that ends. */
export function poolClosing(): PembaError {
  const cause = Object.assign(new Error("the pool is closed"), { code: "CONNECTION_ENDED" });
  return new PembaError("UNAVAILABLE", "the database does not answer", { cause });
}

/** The honest answer to a change whose own answer did not come. */
export function unknownOutcome(error: unknown): PembaError {
  return new PembaError(
    "UNAVAILABLE",
    `the connection was lost before the database confirmed the change: ${unsureChange}`,
    { cause: error },
  );
}

/** Was a statement ended because the server was asked to? */
export function isCancelled(error: unknown): boolean {
  return error instanceof PembaError && codeOf(error.cause) === cancelledState;
}

/** Did the server (or a pooler before it) refuse the parameters that a connection started with? */
export function refusesStartParameters(error: unknown): boolean {
  return error instanceof postgres.PostgresError && refusedParameterStates.has(error.code);
}

/**
 * Why the server (or a pooler before it) refused a parameter of the URI, in its words; undefined when
 * it did not. A pooler has the same SQLSTATE for much else.
 */
export function refusedParameter(error: unknown): string | undefined {
  if (!(error instanceof postgres.PostgresError)) return undefined;
  const { code, message } = error;
  if (code === "08P01" && /start-?up parameter/i.test(message)) return message;
  return /^(42704|55P02|22023)$/.test(code) ? message : undefined;
}

/** A fault of the route to the server, named as the driver and the system name theirs. */
export function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
