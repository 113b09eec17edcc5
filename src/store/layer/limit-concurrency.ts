import { presentCaller } from "../../base/caller.ts";
import { type Telemetry, noTelemetry } from "../../base/telemetry.ts";
import { observedLimiter } from "./concurrency-limiter.ts";
import type { Around, Layer } from "./layer.ts";

/**
 * Limits how many permission questions are worked on at the same time. A bulk check is one question,
 * and so is each page of a lookup. The others wait in a fair queue. When it is full, the newest
 * question of the tenant that has most in it fails with CONCURRENCY_LIMIT_EXCEEDED. `limit` is the part
 * of this process, one of so many `workers`.
 */
export function limitQuestions(
  limit: number,
  telemetry: Telemetry = noTelemetry,
  workers = 1,
): Layer {
  const queue = observedLimiter(telemetry, "questions", {
    running: limit,
    workers,
    working: "permission questions are being worked on (`service.permission.concurrency_limit`)",
  });
  const queued: Around = async (operation, request, next) =>
    await queue.run(operation.tenantOf(request), operation.signalOf(request), () => next(request));
  return { question: queued, lookup: queued };
}

/**
 * Limits how much is read at the same time: tuples and attributes, schemas, bundles, tenants, and the
 * beginnings of streams of changes. As many reads run as the storage has `connections`. The others
 * wait in a fair queue. When it is full, the newest read of the tenant that has most in it fails with
 * CONCURRENCY_LIMIT_EXCEEDED. The list of tenants counts as a tenant of its own. `connections` is the
 * part of this process, one of so many `workers`.
 */
export function limitReads(
  connections: number,
  telemetry: Telemetry = noTelemetry,
  workers = 1,
): Layer {
  const queue = observedLimiter(telemetry, "reads", {
    running: connections,
    workers,
    working: "reads are being worked on (`database.max_connections`)",
  });
  return {
    read: async (operation, request, next) => {
      const signal = operation.signalOf(request) ?? presentCaller()?.signal;
      return await queue.run(operation.tenantOf(request), signal, () => next(request));
    },
  };
}
