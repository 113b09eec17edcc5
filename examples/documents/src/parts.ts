import type { Database } from "./data/database.ts";
import type { Pemba } from "./data/pemba.ts";

/** What the routes work with. */
export interface Parts {
  readonly database: Database;
  readonly pemba: Pemba;
}
