import { PembaError } from "../base/error.ts";
import type { Store } from "../store/store.ts";

/**
 * The place of a store that opens while the servers listen already, so that who asks for the health
 * of the process is answered. Requests that need it before fail with UNAVAILABLE.
 */
export class LateStore {
  #store: Store | undefined;

  get store(): Store {
    if (this.#store !== undefined) return this.#store;
    throw new PembaError("UNAVAILABLE", "the server is starting, retry in a second");
  }

  /** The store is there from now on. */
  set(store: Store): void {
    this.#store = store;
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }
}
