import { expiredSnapToken, invalidSnapToken } from "../store-error.ts";
import { booleanOf, type Row } from "./row.ts";

/**
 * Fails when the row of a pinned statement (with `is_future` and `is_expired`) says that its snapshot
 * could not be read: with INVALID_SNAP_TOKEN or SNAP_TOKEN_EXPIRED.
 */
export function refuseSnapshot(row: Row): void {
  if (booleanOf(row, "is_future")) {
    throw invalidSnapToken("names a state that the database has not reached");
  }
  if (booleanOf(row, "is_expired")) throw expiredSnapToken();
}
