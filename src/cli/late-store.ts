import { PembaError } from "../base/error.ts";
import type { Store } from "../store/store.ts";

/**
 * Stands in for a store while it opens, so that the servers can already answer health checks. Until
 * then, requests that need the store fail with UNAVAILABLE.
 */
export class LateStore {
  #store: Store | undefined;

  get store(): Store {
    if (this.#store !== undefined) return this.#store;
    throw new PembaError("UNAVAILABLE", "the server is starting, retry in a second");
  }

  /** Sets the store. */
  set(store: Store): void {
    this.#store = store;
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }
}
