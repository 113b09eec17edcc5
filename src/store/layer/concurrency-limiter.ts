import { cancelled, PembaError } from "../../base/error.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import type { Telemetry } from "../../base/telemetry.ts";
import type { TenantId } from "../../base/tuple.ts";

/** Observes a queue. */
export interface QueueWatcher {
  /** Wraps the waiting of one entry. */
  wait(begin: () => Promise<void>): Promise<void>;
  /** Called when an entry is refused. */
  refused(): void;
}

export interface ConcurrencyLimits {
  readonly running: number;
  /** No limit for one tenant if absent. */
  readonly runningOfTenant?: number;
  readonly waiting: number;
  /** The message of the error for refused operations. */
  readonly refusal: string;
  readonly watcher?: QueueWatcher | undefined;
}

interface QueueWaiter {
  readonly tenant: TenantId | undefined;
  readonly begin: () => void;
  readonly refuse: (error: PembaError) => void;
}

/**
 * Limits how many operations run at the same time, and perhaps how many of one tenant. A limited
 * number of others wait: tenants alternate, and operations of one tenant start in their order of
 * arrival. Capacity that a tenant may not use stays free for others. If the queue is full, a tenant
 * with fewer entries can still add one: the newest entry of the tenant with the most entries is
 * then refused. A caller that leaves is removed from the queue.
 */
export class ConcurrencyLimiter {
  readonly #runningMax: number;
  readonly #tenantMax: number;
  readonly #waitingMax: number;
  readonly #refusal: string;
  readonly #watcher: QueueWatcher | undefined;
  #running = 0;
  /** Undefined: each tenant may use all places. */
  readonly #runningOf: Map<TenantId | undefined, number> | undefined;
  readonly #waiting = new FairQueue<QueueWaiter>();

  constructor(limits: ConcurrencyLimits) {
    this.#runningMax = limits.running;
    this.#tenantMax = limits.runningOfTenant ?? limits.running;
    this.#runningOf = this.#tenantMax < this.#runningMax ? new Map() : undefined;
    this.#waitingMax = limits.waiting;
    this.#refusal = limits.refusal;
    this.#watcher = limits.watcher;
  }

  /** How many run, and how many wait. */
  get state(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.size };
  }

  /** Whether an operation of the tenant would run at once. */
  mayBegin(tenant: TenantId | undefined): boolean {
    const running = this.#runningOf?.get(tenant) ?? 0;
    return this.#running < this.#runningMax && running < this.#tenantMax;
  }

  /**
   * Does the work for the tenant (or for none) when the limits allow. Fails as the work does, with
   * CONCURRENCY_LIMIT_EXCEEDED if too many wait, and with CANCELLED if the signal aborts during the
   * wait.
   */
  async run<T>(
    tenant: TenantId | undefined,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    if (this.mayBegin(tenant)) this.#count(tenant, 1);
    else if (this.#watcher === undefined) await this.#wait(tenant, signal);
    else await this.#watcher.wait(async () => await this.#wait(tenant, signal));
    try {
      return await work();
    } finally {
      this.#count(tenant, -1);
      this.#passOn();
    }
  }

  #count(tenant: TenantId | undefined, more: 1 | -1): void {
    this.#running += more;
    if (this.#runningOf === undefined) return;
    const running = (this.#runningOf.get(tenant) ?? 0) + more;
    if (running === 0) this.#runningOf.delete(tenant);
    else this.#runningOf.set(tenant, running);
  }

  async #wait(tenant: TenantId | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw cancelled(undefined);
    const presentMax = this.#runningMax + this.#waitingMax;
    if (this.#running + this.#waiting.size >= presentMax) this.#makeRoom(tenant);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: QueueWaiter = { tenant, begin: resolve, refuse: reject };
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

  /** Refuses the newest entry of a tenant with more entries, or else the new one. */
  #makeRoom(tenant: TenantId | undefined): void {
    this.#watcher?.refused();
    const refused = new PembaError("CONCURRENCY_LIMIT_EXCEEDED", this.#refusal);
    const last = this.#waiting.lastOfFullest(tenant);
    if (last === undefined) throw refused;
    this.#waiting.remove(last);
    last.refuse(refused);
  }

  /** Starts the next entry in place of a finished one. */
  #passOn(): void {
    if (this.#waiting.size === 0) return;
    const next = this.#waiting.next((waiter) => this.mayBegin(waiter.tenant));
    if (next === undefined) return;
    this.#count(next.tenant, 1);
    next.begin();
  }
}

/** The queues by their names in metrics. */
type QueueName = "questions" | "large" | "reads" | "changes";

/**
 * Records how long entries wait in a queue and how many are refused. Undefined if telemetry is off.
 */
export function queueWatcher(telemetry: Telemetry, queue: QueueName): QueueWatcher | undefined {
  if (!telemetry.isOn) return undefined;
  return {
    wait: async (begin) => {
      const start = performance.now();
      await telemetry.span("wait in the queue", begin);
      telemetry.record("pemba.queue.wait", (performance.now() - start) / 1_000, { queue });
    },
    refused: () => telemetry.add("pemba.queue.refused", 1, { queue }),
  };
}

/** Observes how many run and how many wait. */
export function observeQueue(
  telemetry: Telemetry,
  queue: QueueName,
  state: () => { readonly running: number; readonly waiting: number },
): void {
  telemetry.observe("pemba.queue.running", () => [{ value: state().running, labels: { queue } }]);
  telemetry.observe("pemba.queue.waiting", () => [{ value: state().waiting, labels: { queue } }]);
}

/** How many may wait for each one that runs in the instance. */
const waitingShare = 10;

/**
 * The largest share of one tenant. The rest is left to others, even if that tenant's work is slow.
 */
const shareOfTenant = 3 / 4;

/**
 * Makes an observed queue. `running` operations run at a time, at most three quarters of them for
 * one tenant, and ten times as many may wait. In a refusal, `working` says what runs and names the
 * key that sets the limit. Where the instance has several workers, `running` is the part of one, but as
 * many may wait in each as in an instance: one connection leads to one worker, and the requests under way
 * are limited for the instance.
 */
export function observedLimiter(
  telemetry: Telemetry,
  queue: QueueName,
  {
    running,
    workers,
    working,
  }: { readonly running: number; readonly workers: number; readonly working: string },
): ConcurrencyLimiter {
  const waiting = running * workers * waitingShare;
  const limiter = new ConcurrencyLimiter({
    running,
    runningOfTenant: Math.ceil(running * shareOfTenant),
    waiting,
    refusal: `${running} ${working} and ${waiting} wait, retry in a second`,
    watcher: queueWatcher(telemetry, queue),
  });
  observeQueue(telemetry, queue, () => limiter.state);
  return limiter;
}
