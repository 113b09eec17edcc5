import { LRUCache } from "lru-cache";

/** How late a cancellation may come after it was sent. */
const lateMaxMs = 10_000;
const rememberedMax = 10_000;

/**
 * Distinguishes our own cancellations from those of others. One names a connection and not a statement, so
 * when it comes after its statement has ended, it hits the next one there, which is to be repeated.
 * What an operator or a timeout of the server ends is not.
 */
export class Cancelling {
  /** How many each backend was sent that have hit nothing yet. */
  readonly #pending = new LRUCache<number, number>({ max: rememberedMax, ttl: lateMaxMs });

  /** A cancellation is sent for what the backend runs. */
  sent(backend: number | undefined): void {
    if (backend !== undefined) this.#pending.set(backend, (this.#pending.get(backend) ?? 0) + 1);
  }

  /** What the backend ran was cancelled: was it by one of ours, which counts for one statement only? */
  hit(backend: number | undefined): boolean {
    const count = backend === undefined ? undefined : this.#pending.get(backend);
    if (backend === undefined || count === undefined) return false;
    if (count > 1) this.#pending.set(backend, count - 1);
    else this.#pending.delete(backend);
    return true;
  }
}
