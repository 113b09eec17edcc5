import type { Store } from "../store/store.ts";
import type { Health } from "./health.ts";

/** What every use case needs, for all transports. */
export interface Service {
  readonly store: Store;
  readonly health: Health;
  /** The most tuples and attributes of one write, counted together. */
  readonly maxDataPerWrite: number;
  /** The most items of one bulk check. */
  readonly bulkLimit: number;
}
