import type { Database } from "./data/database.ts";
import type { Sharing } from "./sharing/sharing.ts";

/** What the routes work with. */
export interface Parts {
  readonly database: Database;
  readonly sharing: Sharing;
}
