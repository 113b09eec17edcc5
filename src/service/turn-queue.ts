import { cancelled, PembaError } from "../base/error.ts";
import { TenantTurns } from "../base/tenant-turns.ts";
import type { TenantId } from "../base/tuple.ts";

/** Who is told of a queue. */
export interface QueueWatcher {
  /** Has somebody wait. */
  wait(turn: () => Promise<void>): Promise<void>;
  /** Somebody was one too many. */
  refused(): void;
}

interface Waiter {
  readonly tenant: TenantId | undefined;
  readonly begin: () => void;
  readonly refuse: (error: PembaError) => void;
}

/**
 * Lets so many work at the same time, of one tenant perhaps fewer. Others wait, so many at most:
 * tenants take turns, and those of a tenant begin in the order in which they came. What a tenant may
 * not use of the places, others find free. When it is full, a tenant can still bring one as long
 * as another one has more there: the last of the tenant that has most is refused for it. Who no longer
 * wants to leaves the queue.
 */
export class TurnQueue {
  readonly #runningMax: number;
  readonly #tenantMax: number;
  readonly #waitingMax: number;
  readonly #refusal: string;
  readonly #watcher: QueueWatcher | undefined;
  #running = 0;
  readonly #runningOf = new Map<TenantId | undefined, number>();
  readonly #waiting = new TenantTurns<Waiter>();

  /** `refusal` is the sentence for who is one too many. */
  constructor(limits: {
    readonly running: number;
    /** As many as all when absent. */
    readonly runningOfTenant?: number;
    readonly waiting: number;
    readonly refusal: string;
    readonly watcher?: QueueWatcher | undefined;
  }) {
    this.#runningMax = limits.running;
    this.#tenantMax = limits.runningOfTenant ?? limits.running;
    this.#waitingMax = limits.waiting;
    this.#refusal = limits.refusal;
    this.#watcher = limits.watcher;
  }

  /** How many work, and how many wait. */
  get state(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.size };
  }

  /**
   * Does the work, which is of the tenant or of none, when it is its turn. Fails as the work does, with
   * CONCURRENCY_LIMIT_EXCEEDED when too many wait, and with CANCELLED when the signal aborts while it
   * waits.
   */
  async run<T>(
    tenant: TenantId | undefined,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    if (this.#running < this.#runningMax && this.#mayRun(tenant)) this.#count(tenant, 1);
    else if (this.#watcher === undefined) await this.#turn(tenant, signal);
    else await this.#watcher.wait(async () => await this.#turn(tenant, signal));
    try {
      return await work();
    } finally {
      this.#count(tenant, -1);
      this.#passOn();
    }
  }

  #mayRun(tenant: TenantId | undefined): boolean {
    return (this.#runningOf.get(tenant) ?? 0) < this.#tenantMax;
  }

  #count(tenant: TenantId | undefined, more: 1 | -1): void {
    this.#running += more;
    const running = (this.#runningOf.get(tenant) ?? 0) + more;
    if (running === 0) this.#runningOf.delete(tenant);
    else this.#runningOf.set(tenant, running);
  }

  async #turn(tenant: TenantId | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw cancelled(undefined);
    const presentMax = this.#runningMax + this.#waitingMax;
    if (this.#running + this.#waiting.size >= presentMax) this.#makeRoom(tenant);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { tenant, begin: resolve, refuse: reject };
    const leave = (): void => {
      this.#waiting.remove(waiter);
      reject(cancelled(undefined));
    };
    this.#waiting.add(waiter);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Refuses the last of a tenant that has more there, or else the one that comes. */
  #makeRoom(tenant: TenantId | undefined): void {
    this.#watcher?.refused();
    const refused = new PembaError("CONCURRENCY_LIMIT_EXCEEDED", this.#refusal);
    const last = this.#waiting.lastOfFullest(tenant);
    if (last === undefined) throw refused;
    this.#waiting.remove(last);
    last.refuse(refused);
  }

  /** Who is next takes the place of who has ended. */
  #passOn(): void {
    const next = this.#waiting.next((waiter) => this.#mayRun(waiter.tenant));
    if (next === undefined) return;
    this.#count(next.tenant, 1);
    next.begin();
  }
}
