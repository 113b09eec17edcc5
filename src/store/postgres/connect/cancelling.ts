import { LRUCache } from "lru-cache";

/** How late a cancellation may come after it was sent. */
const lateMaxMs = 10_000;
const rememberedMax = 10_000;

/**
 * Tells our own cancellations from those of others. One names a connection and not a statement, so
 * when it comes after its statement has ended, it hits the next one there, which is to be repeated.
 * What an operator or a timeout of the server ends is not.
 */
export class Cancelling {
  /** Backends that were sent one which has hit nothing yet. */
  readonly #pending = new LRUCache<number, true>({ max: rememberedMax, ttl: lateMaxMs });

  /** A cancellation is sent for what the backend runs. */
  sent(backend: number | undefined): void {
    if (backend !== undefined) this.#pending.set(backend, true);
  }

  /** What the backend ran was cancelled: was it by one of ours, which counts for one statement only? */
  hit(backend: number | undefined): boolean {
    return backend !== undefined && this.#pending.delete(backend);
  }
}
