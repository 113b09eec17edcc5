import { type Telemetry, noTelemetry } from "../../base/telemetry.ts";
import type { TenantId } from "../../base/tuple.ts";
import { ConcurrencyLimiter, observeQueue, queueWatcher } from "./concurrency-limiter.ts";

/** One may have tens of megabytes, which soon are garbage to be collected. */
const atOnce = 2;

/** The other place stays free for other tenants. */
const atOnceOfTenant = 1;

const waitingMax = 1_000;

/** Of facts with fewer characters, ten answers at once leave as much garbage as one large one. */
const largeCharacters = 2 ** 20;

/** Of facts, those that wait keep so many characters in memory. More are read again when they have a place. */
const keptCharacters = 128 * 2 ** 20;

/** Whose work it is. */
interface LargeRequest {
  readonly tenant: TenantId | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Work with facts that were read. */
interface ReadWork<T> {
  /** How many characters the facts have. */
  readonly characters: number;
  /** Lets go of the facts. */
  readonly forget: () => void;
  /** Reads the facts again if it has let go of them. */
  readonly work: () => Promise<T>;
}

/**
 * Limits in this process how many answers are made at the same time that read very much. The others wait in a
 * fair queue. When it is full, the newest one of the tenant that has most in it fails with
 * CONCURRENCY_LIMIT_EXCEEDED. What has a place must not ask for another one.
 */
export class LargeWork {
  readonly #queue: ConcurrencyLimiter;
  #keptCharacters = 0;

  constructor(telemetry: Telemetry = noTelemetry) {
    const queue = new ConcurrencyLimiter({
      running: atOnce,
      runningOfTenant: atOnceOfTenant,
      waiting: waitingMax,
      refusal: `${atOnce} large answers are being made and ${waitingMax} wait, retry in a second`,
      watcher: queueWatcher(telemetry, "large"),
    });
    observeQueue(telemetry, "large", () => queue.state);
    this.#queue = queue;
  }

  /** How many answers have a place, and how many wait. */
  get state(): ConcurrencyLimiter["state"] {
    return this.#queue.state;
  }

  /** Does the work when it has a place. Fails with CANCELLED if the signal aborts before. */
  async run<T>({ tenant, signal }: LargeRequest, work: () => Promise<T>): Promise<T> {
    return await this.#queue.run(tenant, signal, work);
  }

  /** Does work whose size is known, which is large only if there are many facts. */
  async runRead<T>(asked: LargeRequest, { characters, forget, work }: ReadWork<T>): Promise<T> {
    if (characters < largeCharacters) return await work();
    if (this.#queue.mayBegin(asked.tenant)) return await this.run(asked, work);
    if (this.#keptCharacters + characters > keptCharacters) {
      forget();
      return await this.run(asked, work);
    }
    let kept = characters;
    const letGo = (): void => {
      this.#keptCharacters -= kept;
      kept = 0;
    };
    this.#keptCharacters += kept;
    try {
      return await this.run(asked, async () => {
        letGo();
        return await work();
      });
    } finally {
      letGo();
    }
  }
}
