import { presentCaller } from "../base/caller.ts";
import { cancelled, PembaError } from "../base/error.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import type { TenantId } from "../base/tuple.ts";
import type { Store } from "../store/store.ts";
import { observeTurns, turnWatcher } from "./observe-turns.ts";
import { type QueueWatcher, TurnQueue } from "./turn-queue.ts";

/** The share of the database connections for changes, and the share for those of one tenant. */
const shareOfChanges = 3 / 4;
const shareOfTenant = 1 / 2;

/**
 * How long a change may wait in the storage for another one of its tenant, in milliseconds. The
 * storage must be configured with it. Changes of other tenants may wait as long for its slot.
 */
export const lockWaitMs = 1_000;

/** Waiting changes hold their bodies of some megabytes. */
const waitingMax = 1_000;
const waitingOfTenantMax = 500;

/**
 * Limits how many changes of a store run at the same time, each with one of `connections`. Some
 * connections are left for changes of other tenants, and some for reads. Other changes wait in a
 * fair queue until they may run or their caller leaves. If too many wait, they fail with
 * CONCURRENCY_LIMIT_EXCEEDED. A change that waits too long in the storage for another one of its
 * tenant (such as a delete of a million tuples) gives its slot back and goes to the end of the
 * queue. Until a change of that tenant succeeds, the tenant has one change at a time in the
 * storage. So others get through, however many tenants are blocked.
 */
export function limitChanges(
  store: Store,
  connections: number,
  telemetry: Telemetry = noTelemetry,
): Store {
  const turns = new ChangeTurns(connections, turnWatcher(telemetry, "changes"));
  observeTurns(telemetry, "changes", () => turns.state);
  const { tenants, schemas, data, bundles } = store;
  return {
    ...store,
    tenants: {
      create: async (tenant) => await turns.run(tenant.id, () => tenants.create(tenant)),
      delete: async (id) => await turns.run(id, () => tenants.delete(id)),
      list: async (page) => await tenants.list(page),
    },
    schemas: {
      write: async (tenant, schema) => await turns.run(tenant, () => schemas.write(tenant, schema)),
      read: async (tenant, version) => await schemas.read(tenant, version),
      list: async (tenant, page) => await schemas.list(tenant, page),
      knownHead: (tenant) => schemas.knownHead(tenant),
      learnHead: (tenant, version) => schemas.learnHead(tenant, version),
    },
    data: {
      write: async (tenant, written) => await turns.run(tenant, () => data.write(tenant, written)),
      delete: async (tenant, filters) =>
        await turns.run(tenant, () => data.delete(tenant, filters)),
      readTuples: async (tenant, read) => await data.readTuples(tenant, read),
      readAttributes: async (tenant, read) => await data.readAttributes(tenant, read),
    },
    bundles: {
      write: async (tenant, written) =>
        await turns.run(tenant, () => bundles.write(tenant, written)),
      delete: async (tenant, name) => await turns.run(tenant, () => bundles.delete(tenant, name)),
      run: async (tenant, name, prepare) =>
        await turns.run(tenant, () => bundles.run(tenant, name, prepare)),
      read: async (tenant, name) => await bundles.read(tenant, name),
    },
  };
}

/** A tenant with changes in progress. */
interface ChangingTenant {
  readonly id: TenantId;
  readonly queue: TurnQueue;
  /** For changes that may run while the tenant is blocked. */
  readonly probes: TurnQueue;
  isBlocked: boolean;
  present: number;
}

/** A change waits in the queue of its tenant first, so that it does not delay others. */
class ChangeTurns {
  readonly #tenantRunning: number;
  readonly #presentMax: number;
  readonly #all: TurnQueue;
  readonly #tenants = new Map<TenantId, ChangingTenant>();
  readonly #watcher: QueueWatcher | undefined;
  #present = 0;

  constructor(connections: number, watcher: QueueWatcher | undefined) {
    const running = Math.max(1, Math.floor(connections * shareOfChanges));
    this.#tenantRunning = Math.max(1, Math.floor(connections * shareOfTenant));
    this.#presentMax = running + waitingMax;
    this.#all = new TurnQueue({ running, waiting: waitingMax, refusal, watcher });
    this.#watcher = watcher;
  }

  get state(): { readonly running: number; readonly waiting: number } {
    const { running } = this.#all.state;
    return { running, waiting: this.#present - running };
  }

  async run<T>(tenant: TenantId, work: () => Promise<T>): Promise<T> {
    const signal = presentCaller()?.signal;
    if (this.#present >= this.#presentMax) {
      this.#watcher?.refused();
      throw new PembaError("CONCURRENCY_LIMIT_EXCEEDED", refusal);
    }
    const turns = this.#turnsOf(tenant);
    this.#present++;
    turns.present++;
    try {
      return await turns.queue.run(tenant, signal, () => this.#persist(turns, signal, work));
    } finally {
      this.#present--;
      turns.present--;
      if (turns.present === 0) this.#tenants.delete(tenant);
    }
  }

  /** Does the work in a slot, and repeats it while another change blocks it. */
  async #persist<T>(
    turns: ChangingTenant,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    const attempt = async (): Promise<T> => await this.#all.run(turns.id, signal, work);
    for (;;) {
      try {
        const result = await (turns.isBlocked
          ? turns.probes.run(turns.id, signal, attempt)
          : attempt());
        turns.isBlocked = false;
        return result;
      } catch (error) {
        if (!(error instanceof PembaError) || error.code !== "CHANGE_BLOCKED") throw error;
        turns.isBlocked = true;
      }
      if (signal?.aborted === true) throw cancelled(undefined);
    }
  }

  #turnsOf(tenant: TenantId): ChangingTenant {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const limits = {
      waiting: waitingOfTenantMax,
      refusal: `${waitingOfTenantMax} changes of the tenant wait already, retry in a second`,
    };
    const turns = {
      id: tenant,
      queue: new TurnQueue({ ...limits, running: this.#tenantRunning, watcher: this.#watcher }),
      probes: new TurnQueue({ ...limits, running: 1 }),
      isBlocked: false,
      present: 0,
    };
    this.#tenants.set(tenant, turns);
    return turns;
  }
}

const refusal = `${waitingMax} changes wait already, retry in a second`;
