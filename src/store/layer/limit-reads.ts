import { presentCaller } from "../../base/caller.ts";
import { noTelemetry, type Telemetry } from "../../base/telemetry.ts";
import type { Layer } from "./layer.ts";
import { observedQueue } from "./observe-queue.ts";

/**
 * Limits how much is read at the same time: tuples and attributes, schemas, bundles, tenants, and the
 * beginnings of streams of changes. As many reads run as the storage has `connections`. The others
 * wait in a fair queue. When it is full, the newest read of the tenant that has most in it fails with
 * CONCURRENCY_LIMIT_EXCEEDED. The list of tenants counts as a tenant of its own.
 */
export function limitReads(connections: number, telemetry: Telemetry = noTelemetry): Layer {
  const queue = observedQueue(telemetry, "reads", {
    running: connections,
    working: "reads are being worked on (`database.max_connections`)",
  });
  return {
    read: async (operation, request, next) => {
      const signal = operation.signalOf(request) ?? presentCaller()?.signal;
      return await queue.run(operation.tenantOf(request), signal, () => next(request));
    },
  };
}
