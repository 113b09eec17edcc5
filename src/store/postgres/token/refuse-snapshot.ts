import { expiredSnapToken, invalidSnapToken, snapTokenBeforeTenant } from "../../store-error.ts";
import { booleanOf, type Row } from "../connect/row.ts";

/**
 * Fails when the row of a pinned statement (with `pinColumns`) says that its snapshot
 * could not be read: with INVALID_SNAP_TOKEN or SNAP_TOKEN_EXPIRED.
 */
export function refuseSnapshot(row: Row): void {
  if (booleanOf(row, "is_lost")) {
    throw invalidSnapToken(
      "names a state that may have been lost when another server took over, use a newer one",
    );
  }
  if (booleanOf(row, "is_future")) {
    throw invalidSnapToken("names a state that the database has not reached");
  }
  if (booleanOf(row, "is_before_tenant")) throw snapTokenBeforeTenant();
  if (booleanOf(row, "is_expired")) throw expiredSnapToken();
}
