import type { SchemaVersion } from "../../../base/tuple.ts";
import type { Database } from "../connect/database.ts";
import type { Row } from "../connect/row.ts";
import type { ParameterValue } from "../connect/value.ts";
import type { PinnedState } from "../token/snap-token.ts";

/** What a statement is asked under, by which it is known where it can be answered. */
export interface ReadFrame {
  /** The state that it is to read; the present one when undefined. */
  readonly state: PinnedState | undefined;
  /** The head that it was planned with; undefined when it goes with any. */
  readonly head: SchemaVersion | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Where statements that change nothing are asked. */
export interface Reads {
  /** The rows of a statement. Fails with an error of the table, and with CANCELLED by the signal. */
  read(text: string, values: readonly ParameterValue[], frame: ReadFrame): Promise<readonly Row[]>;
}

/** Where there are no replicas everything is asked of the one database. */
export function readsOf(database: Database): Reads {
  return {
    read: async (text, values, { signal }) => await database.read(text, values, signal),
  };
}

/**
 * Can the rows of a replica be given out? Else what they say is for the writer to say: that there is
 * no such tenant or version, that the head is another one, that a state cannot be read, or that the
 * one that was read has no name.
 */
export function isFinal(rows: readonly Row[], { head }: ReadFrame): boolean {
  const [row] = rows;
  if (row === undefined || row["has_version"] === false) return false;
  if (row["snapshot"] === null || row["timeline"] === null) return false;
  const refusals = ["is_future", "is_lost", "is_expired", "is_before_tenant", "is_partial"];
  if (refusals.some((column) => row[column] === true)) return false;
  return head === undefined || row["head_version"] === head;
}
