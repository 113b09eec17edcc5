/**
 * A bug of the server, never a mistake of a client: it fails the request and is logged as a bug.
 */
class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Throws if `condition` does not hold. The calling code guarantees that it does. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** Returns the value. Throws if there is none, which the calling code guarantees not to happen. */
export function must<T>(value: T | undefined | null, message: string): T {
  if (value === undefined || value === null) throw new AssertionError(message);
  return value;
}

/** Ends an exhaustive choice: it does not compile while a case is not handled. */
export function unreachable(value: never): never {
  throw new AssertionError(`unexpected value ${JSON.stringify(value)}`);
}
