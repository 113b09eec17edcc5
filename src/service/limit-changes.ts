import { PembaError } from "../base/error.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import type { TenantId } from "../base/tuple.ts";
import type { Store } from "../store/store.ts";
import { observeTurns, turnWatcher } from "./observe-turns.ts";
import { type QueueWatcher, TurnQueue } from "./turn-queue.ts";

/** Of the connections of a database, so many may work on changes, and half as many on those of one tenant. */
const shareOfChanges = 3 / 4;
const shareOfTenant = 1 / 2;

/** Bodies of some megabytes are held by those who wait. */
const waitingMax = 1_000;
const waitingOfTenantMax = 500;

/**
 * The same store with a limit on how many changes are worked on at the same time. A change may wait
 * in the storage for another one of its tenant, for as long as that takes (the delete of a million
 * tuples), and holds one of `connections` meanwhile: some are left for changes of other tenants,
 * and some for what only reads. Others wait for their turn; when too many do, they fail with
 * CONCURRENCY_LIMIT_EXCEEDED.
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

/** Turns of a tenant, while it has changes under way. */
interface TenantTurns {
  readonly queue: TurnQueue;
  present: number;
}

/** A change takes the turn of its tenant first, so that those who wait for it hold up no others. */
class ChangeTurns {
  readonly #tenantRunning: number;
  readonly #presentMax: number;
  readonly #all: TurnQueue;
  readonly #tenants = new Map<TenantId, TenantTurns>();
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
    if (this.#present >= this.#presentMax) {
      this.#watcher?.refused();
      throw new PembaError("CONCURRENCY_LIMIT_EXCEEDED", refusal);
    }
    const turns = this.#turnsOf(tenant);
    this.#present++;
    turns.present++;
    try {
      return await turns.queue.run(undefined, () => this.#all.run(undefined, work));
    } finally {
      this.#present--;
      turns.present--;
      if (turns.present === 0) this.#tenants.delete(tenant);
    }
  }

  #turnsOf(tenant: TenantId): TenantTurns {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const queue = new TurnQueue({
      running: this.#tenantRunning,
      waiting: waitingOfTenantMax,
      refusal: `${waitingOfTenantMax} changes of the tenant wait already, retry in a second`,
      watcher: this.#watcher,
    });
    const turns = { queue, present: 0 };
    this.#tenants.set(tenant, turns);
    return turns;
  }
}

const refusal = `${waitingMax} changes wait already, retry in a second`;
