import { createHealth } from "../../service/health.ts";
import type { Service } from "../../service/service.ts";
import { createMemoryStore } from "../../store/memory/store.ts";
import type { Store } from "../../store/store.ts";
import type { TestTenant } from "./run-model.ts";

/** A tenant for one model test. */
export interface OpenTenant extends TestTenant {
  /** Removes all that the test wrote. */
  close(): Promise<void>;
}

/** The limits of a service are those of its default configuration. */
export function serviceOver(store: Store): Service {
  return { store, health: createHealth(store), maxDataPerWrite: 1_000, bulkLimit: 100 };
}

/** An empty tenant in memory. */
export function openMemoryTenant(): OpenTenant {
  const store = createMemoryStore({ maxSchemaCacheBytes: 64 * 1024 * 1024 });
  return { service: serviceOver(store), tenantId: "t1", close: async () => await store.close() };
}
