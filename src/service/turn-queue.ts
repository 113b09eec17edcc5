import { cancelled, PembaError } from "../base/error.ts";

/** Who is told of a queue. */
export interface QueueWatcher {
  /** Has somebody wait. */
  wait(turn: () => Promise<void>): Promise<void>;
  /** Somebody was one too many. */
  refused(): void;
}

/**
 * Lets so many work at the same time. Others wait, in the order in which they came, and so many at
 * most; who no longer wants to leaves the queue.
 */
export class TurnQueue {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  readonly #refusal: string;
  readonly #watcher: QueueWatcher | undefined;
  #running = 0;
  /** A set keeps the order, and anyone can leave it. */
  readonly #waiting = new Set<() => void>();

  /** `refusal` is the sentence for who is one too many. */
  constructor(limits: {
    readonly running: number;
    readonly waiting: number;
    readonly refusal: string;
    readonly watcher?: QueueWatcher | undefined;
  }) {
    this.#runningMax = limits.running;
    this.#waitingMax = limits.waiting;
    this.#refusal = limits.refusal;
    this.#watcher = limits.watcher;
  }

  /** How many work, and how many wait. */
  get state(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.size };
  }

  /**
   * Does the work when it is its turn. Fails as the work does, with CONCURRENCY_LIMIT_EXCEEDED when
   * too many wait already, and with CANCELLED when the signal aborts while it waits.
   */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#runningMax) this.#running++;
    else if (this.#watcher === undefined) await this.#turn(signal);
    else await this.#watcher.wait(async () => await this.#turn(signal));
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw cancelled(undefined);
    if (this.#waiting.size >= this.#waitingMax) {
      this.#watcher?.refused();
      throw new PembaError("CONCURRENCY_LIMIT_EXCEEDED", this.#refusal);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      this.#waiting.delete(begin);
      reject(cancelled(undefined));
    };
    const begin = (): void => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    this.#waiting.add(begin);
    signal?.addEventListener("abort", leave, { once: true });
    await promise;
  }

  /** Who has waited longest takes the place of who has ended. */
  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
