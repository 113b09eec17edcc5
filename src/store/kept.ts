import { LRUCache } from "lru-cache";

import { SingleFlight } from "../base/single-flight.ts";
import type { Steps } from "../base/steps.ts";
import { runInSlices } from "../base/time-slice.ts";

/** Something that counts against a limit; `drop` lets go of it. */
interface Held {
  readonly bytes: number;
  readonly drop: () => void;
}

/**
 * One limit over the bytes that several caches count for what they keep: what was used longest ago goes first,
 * among all of them. It bounds the memory only as far as they count all of it (see `KeptMap`).
 */
export class HeldBytes {
  readonly #held: LRUCache<Held, Held>;
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.#held = new LRUCache<Held, Held>({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: ({ drop }) => drop(),
      noDisposeOnSet: true,
    });
  }

  /** Bytes of all that is held. */
  get bytes(): number {
    return this.#held.calculatedSize;
  }

  hold(held: Held): void {
    this.#held.set(held, held);
  }

  /** It was used. */
  touch(held: Held): void {
    this.#held.get(held);
  }

  release(held: Held): void {
    this.#held.delete(held);
  }
}

interface KeptEntry<T> {
  readonly value: T;
  readonly held: Held;
}

/** What each entry takes besides its value. */
const bytesOfEntry = 400;

/**
 * A cache of values by key, under a limit that it shares with others. Values are counted as
 * `bytesOf` has them, one that is larger than half of the limit as that half: it is kept all the same,
 * rather than be made anew each time. So two such values are kept at most, each as large as it is.
 */
export class KeptMap<T extends object> {
  readonly #limit: HeldBytes;
  readonly #bytesOf: (value: T) => number;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, KeptEntry<T>>();
  readonly #flights = new SingleFlight<T>();

  /** `maxEntries` 0: as many as there is room for. */
  constructor(limit: HeldBytes, bytesOf: (value: T) => number, maxEntries = 0) {
    this.#limit = limit;
    this.#bytesOf = bytesOf;
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#limit.touch(entry.held);
    if (this.#maxEntries > 0) {
      // A map is in the order in which its entries were set: that of their use, then.
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.value;
  }

  set(key: string, value: T): void {
    const known = this.#entries.get(key);
    if (known !== undefined) this.#limit.release(known.held);
    const bytes = Math.min(
      bytesOfEntry + key.length + this.#bytesOf(value),
      Math.max(1, Math.floor(this.#limit.maxBytes / 2)),
    );
    const held: Held = { bytes, drop: () => this.#entries.delete(key) };
    this.#entries.set(key, { value, held });
    this.#limit.hold(held);
    const [oldest] = this.#entries.values();
    if (this.#maxEntries > 0 && this.#entries.size > this.#maxEntries && oldest !== undefined) {
      this.#limit.release(oldest.held);
    }
  }

  /**
   * The value of a key, at once where it is kept or made in one step. Callers that miss the same one
   * at the same time share the making of it, which ends when all of them have left. Fails as `make`
   * does, and with CANCELLED when the signal aborts.
   */
  find(key: string, make: () => Steps<T>, signal?: AbortSignal): T | Promise<T> {
    const known = this.get(key);
    if (known !== undefined) return known;
    const work = make();
    if (!this.#flights.has(key)) {
      const first = work.next();
      if (first.done === true) {
        this.set(key, first.value);
        return first.value;
      }
    }
    const start = async (ended: AbortSignal): Promise<T> => {
      const value = await runInSlices(work, ended);
      this.set(key, value);
      return value;
    };
    return this.#flights.join(key, start, signal);
  }
}
