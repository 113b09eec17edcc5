import { PembaError, unsureChange } from "../../../base/error.ts";

/** What ends when its time is over. */
export type LateWork = "read" | "change";

const keys: Readonly<Record<LateWork, string>> = {
  read: "`database.read_timeout`",
  change: "`database.write_timeout`",
};

/** Nothing came free for a statement, which was not sent. */
export function noneFree(work: LateWork): PembaError {
  const unmade = work === "change" ? ", and the change is not made" : "";
  return new PembaError(
    "DEADLINE_EXCEEDED",
    `no connection to the database became free in time (${keys[work]}, \`database.max_connections\`)${unmade}`,
  );
}

/** The server ended a statement when it was asked to: nothing of it was done. */
export function endedLate(work: LateWork, cause: unknown): PembaError {
  const undone = work === "change" ? ", and the change was undone" : "";
  const message = `the database took too long (${keys[work]})${undone}`;
  return new PembaError("DEADLINE_EXCEEDED", message, { cause });
}

/** The server did not say in time what became of a statement. */
export function saidNothing(work: LateWork, cause?: unknown): PembaError {
  const message =
    work === "read"
      ? `the database took too long (${keys.read})`
      : `the database did not confirm the change in time (${keys.change}): ${unsureChange}`;
  return new PembaError("DEADLINE_EXCEEDED", message, { cause });
}
