import { PembaError } from "../base/error.ts";

/** A head that changes faster than a statement runs is not worth more tries than these. */
const headChangesMax = 10;

/**
 * Does the work again while it resolves to undefined: the head turned out to be another one than it was done
 * for. `request` says in the error what it is.
 */
export async function untilHeadStands<T>(
  request: "question" | "write" | "change",
  work: () => Promise<T | undefined>,
): Promise<T> {
  for (let attempt = 1; attempt <= headChangesMax; attempt += 1) {
    const result = await work();
    if (result !== undefined) return result;
  }
  throw new PembaError(
    "SERIALIZATION",
    `the schema changed repeatedly during the ${request}, retry`,
  );
}
