import { presentCaller } from "../base/caller.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import type { TenantId } from "../base/tuple.ts";
import type { Store } from "../store/store.ts";
import { observedQueue } from "./observe-turns.ts";

/**
 * Limits how many reads of a store run at the same time: tuples and attributes, schemas, bundles,
 * tenants, and the starts of streams of changes. As many run as the storage has `connections`.
 * Others wait in a fair queue. If too many wait, reads of the tenant with the most of them fail
 * with CONCURRENCY_LIMIT_EXCEEDED. The list of tenants counts as one more tenant.
 */
export function limitReads(
  store: Store,
  connections: number,
  telemetry: Telemetry = noTelemetry,
): Store {
  const queue = observedQueue(telemetry, "reads", {
    running: connections,
    working: "reads are being worked on (`database.max_connections`)",
  });
  const turn = async <T>(tenant: TenantId | undefined, read: () => Promise<T>): Promise<T> =>
    await queue.run(tenant, presentCaller()?.signal, read);
  const { tenants, schemas, data, bundles, changes } = store;
  return {
    ...store,
    tenants: {
      create: async (tenant) => await tenants.create(tenant),
      delete: async (id) => await tenants.delete(id),
      list: async (page) => await turn(undefined, () => tenants.list(page)),
    },
    schemas: {
      write: async (tenant, schema) => await schemas.write(tenant, schema),
      read: async (tenant, version) => await turn(tenant, () => schemas.read(tenant, version)),
      list: async (tenant, page) => await turn(tenant, () => schemas.list(tenant, page)),
      knownHead: (tenant) => schemas.knownHead(tenant),
      learnHead: (tenant, version) => schemas.learnHead(tenant, version),
    },
    data: {
      write: async (tenant, written) => await data.write(tenant, written),
      delete: async (tenant, filters) => await data.delete(tenant, filters),
      readTuples: async (tenant, read) => await turn(tenant, () => data.readTuples(tenant, read)),
      readAttributes: async (tenant, read) =>
        await turn(tenant, () => data.readAttributes(tenant, read)),
    },
    bundles: {
      write: async (tenant, written) => await bundles.write(tenant, written),
      delete: async (tenant, name) => await bundles.delete(tenant, name),
      run: async (tenant, name, prepare) => await bundles.run(tenant, name, prepare),
      read: async (tenant, name) => await turn(tenant, () => bundles.read(tenant, name)),
    },
    changes: {
      follow: async (tenant, from) => await turn(tenant, () => changes.follow(tenant, from)),
    },
  };
}
