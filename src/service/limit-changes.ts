import { presentCaller } from "../base/caller.ts";
import { cancelled, PembaError } from "../base/error.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import type { TenantId } from "../base/tuple.ts";
import type { Store } from "../store/store.ts";
import { observeTurns, turnWatcher } from "./observe-turns.ts";
import { type QueueWatcher, TurnQueue } from "./turn-queue.ts";

/** Of the connections of a database, so many may work on changes, and half as many on those of one tenant. */
const shareOfChanges = 3 / 4;
const shareOfTenant = 1 / 2;

/**
 * For so long a change may wait in the storage for another one of its tenant, which is to be set there.
 * Changes of other tenants may have to wait for its place as long.
 */
export const lockWaitMs = 1_000;

/** Bodies of some megabytes are held by those who wait. */
const waitingMax = 1_000;
const waitingOfTenantMax = 500;

/**
 * The same store with a limit on how many changes are worked on at the same time, each with one of
 * `connections`: some are left for changes of other tenants, and some for what only reads. Others wait
 * for their turn, until their caller leaves; when too many do, they fail with
 * CONCURRENCY_LIMIT_EXCEEDED.
 *
 * A change that waits in the storage for another one of its tenant (the delete of a million tuples)
 * gives its place back when that takes long and comes to the end of the queue, and until one gets
 * through its tenant has one change at a time in the storage: so others get through, however many
 * tenants are blocked.
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

/** A tenant that has changes under way. */
interface ChangingTenant {
  readonly id: TenantId;
  readonly queue: TurnQueue;
  /** For those who have their turn while the tenant is blocked. */
  readonly probes: TurnQueue;
  isBlocked: boolean;
  present: number;
}

/** A change takes the turn of its tenant first, so that those who wait for it hold up no others. */
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

  /** Does the work with a place among all, again and again while something else is in its way. */
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
