/** Our own mistake, never a client's: it fails the request and is logged as a bug. */
class AssertionError extends Error {
  override readonly name = "AssertionError";
}

/** Throws when `condition`, which the code around it guarantees, does not hold. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** The value, when the code around it guarantees that there is one. */
export function must<T>(value: T | undefined | null, message: string): T {
  if (value === undefined || value === null) throw new AssertionError(message);
  return value;
}

/** The end of an exhaustive choice: it does not compile while a case is left. */
export function unreachable(value: never): never {
  throw new AssertionError(`unexpected value ${JSON.stringify(value)}`);
}
