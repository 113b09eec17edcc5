import type { Store } from "../store/store.ts";
import type { Health } from "./health.ts";

/** What every use case works with, whatever transport it is called through. */
export interface Service {
  readonly store: Store;
  readonly health: Health;
  /** Most tuples and attributes, counted together, of one write. */
  readonly maxDataPerWrite: number;
  /** Most items of one bulk check. */
  readonly bulkLimit: number;
}
