import { presentCaller } from "../../base/caller.ts";
import { cancelled, PembaError } from "../../base/error.ts";
import { noTelemetry, type Telemetry } from "../../base/telemetry.ts";
import type { TenantId } from "../../base/tuple.ts";
import {
  ConcurrencyLimiter,
  type ConcurrencyLimits,
  type QueueWatcher,
  observeQueue,
  queueWatcher,
} from "./concurrency-limiter.ts";
import type { Layer } from "./layer.ts";

/** The share of the connections that may work on changes at the same time, and on those of one tenant. */
const shareOfChanges = 3 / 4;
const shareOfTenant = 1 / 2;

/**
 * How long a change may wait in the storage for another change of its tenant; the engine is opened with
 * it. It holds a place meanwhile that changes of other tenants may need.
 */
export const lockWaitMs = 1_000;

/** Each change that waits may hold a body of some megabytes. */
const waitingMax = 1_000;
const waitingOfTenantMax = 500;

/**
 * Limits how many changes are worked on at the same time, each with one of `connections`. Some
 * connections stay free for changes of other tenants, and some for reads. Other changes wait in fair
 * queues until their caller leaves. When too many wait, they fail with CONCURRENCY_LIMIT_EXCEEDED.
 *
 * If a change waits in the storage for another one of its tenant (the delete of a million tuples), it
 * gives its place back after a time and goes to the end of the queue. Until one gets through, its
 * tenant has one change at a time in the storage. So blocked tenants, however many, do not stop others.
 */
export function limitChanges(connections: number, telemetry: Telemetry = noTelemetry): Layer {
  const queues = new ChangeQueues(connections, queueWatcher(telemetry, "changes"));
  observeQueue(telemetry, "changes", () => queues.state);
  return {
    change: (operation, request, next) =>
      queues.run(operation.tenantOf(request), () => next(request)),
  };
}

/** A tenant that has changes under way. */
interface ChangingTenant {
  readonly id: TenantId | undefined;
  readonly queue: ConcurrencyLimiter;
  /** For changes that may go while the tenant is blocked: one at a time. Most tenants never need them. */
  probes: ConcurrencyLimiter | undefined;
  isBlocked: boolean;
  present: number;
}

/** A change goes through the queue of its tenant first, so that waiting there holds up no other tenant. */
class ChangeQueues {
  readonly #limitsOfTenant: ConcurrencyLimits;
  readonly #presentMax: number;
  readonly #all: ConcurrencyLimiter;
  readonly #tenants = new Map<TenantId | undefined, ChangingTenant>();
  readonly #watcher: QueueWatcher | undefined;
  /** The last tenant that had changes under way: its next one often comes soon. */
  #last: ChangingTenant | undefined;
  #present = 0;

  constructor(connections: number, watcher: QueueWatcher | undefined) {
    const running = Math.max(1, Math.floor(connections * shareOfChanges));
    const ofTenant = Math.max(1, Math.floor(connections * shareOfTenant));
    this.#limitsOfTenant = { ...waitingOfTenant, running: ofTenant, watcher };
    this.#presentMax = running + waitingMax;
    this.#all = new ConcurrencyLimiter({ running, waiting: waitingMax, refusal, watcher });
    this.#watcher = watcher;
  }

  get state(): { readonly running: number; readonly waiting: number } {
    const { running } = this.#all.state;
    return { running, waiting: this.#present - running };
  }

  async run<T>(tenant: TenantId | undefined, work: () => Promise<T>): Promise<T> {
    const signal = presentCaller()?.signal;
    if (this.#present >= this.#presentMax) {
      this.#watcher?.refused();
      throw new PembaError("CONCURRENCY_LIMIT_EXCEEDED", refusal);
    }
    const changing = this.#changingOf(tenant);
    this.#present++;
    changing.present++;
    try {
      return await changing.queue.run(tenant, signal, () => this.#persist(changing, signal, work));
    } finally {
      this.#present--;
      changing.present--;
      if (changing.present === 0) this.#forget(changing);
    }
  }

  /** Does the work with a place among all tenants. Repeats it as long as another change blocks it. */
  async #persist<T>(
    changing: ChangingTenant,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const attempt = (): Promise<T> => this.#all.run(changing.id, signal, work);
    for (;;) {
      try {
        const result = await (changing.isBlocked
          ? probesOf(changing).run(changing.id, signal, attempt)
          : attempt());
        changing.isBlocked = false;
        return result;
      } catch (error) {
        if (!(error instanceof PembaError) || error.code !== "CHANGE_BLOCKED") throw error;
        changing.isBlocked = true;
      }
      if (signal?.aborted === true) throw cancelled(undefined);
    }
  }

  #changingOf(tenant: TenantId | undefined): ChangingTenant {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const last = this.#last;
    const isLast = last !== undefined && last.id === tenant;
    const changing = isLast ? last : this.#newChanging(tenant);
    changing.isBlocked = false;
    this.#tenants.set(tenant, changing);
    return changing;
  }

  #newChanging(id: TenantId | undefined): ChangingTenant {
    const queue = new ConcurrencyLimiter(this.#limitsOfTenant);
    return { id, queue, probes: undefined, isBlocked: false, present: 0 };
  }

  #forget(changing: ChangingTenant): void {
    this.#tenants.delete(changing.id);
    this.#last = changing;
  }
}

function probesOf(changing: ChangingTenant): ConcurrencyLimiter {
  changing.probes ??= new ConcurrencyLimiter({ ...waitingOfTenant, running: 1 });
  return changing.probes;
}

const refusal = `${waitingMax} changes wait already, retry in a second`;

const waitingOfTenant = {
  waiting: waitingOfTenantMax,
  refusal: `${waitingOfTenantMax} changes of the tenant wait already, retry in a second`,
};
