import { type Telemetry, noTelemetry } from "../../base/telemetry.ts";
import { ConcurrencyLimiter, observeQueue, queueWatcher } from "./concurrency-limiter.ts";
import { type Around, type Layer } from "./layer.ts";
import { operations } from "./operation.ts";

/** What one reads and makes may have tens of megabytes, which soon are garbage to be collected. */
const atOnce = 2;

/** The other place stays free for other tenants. */
const atOnceOfTenant = 1;

const waitingMax = 1_000;

/**
 * Limits how many explanations and expansions are made at the same time in this process. The others wait in
 * a fair queue. When it is full, the newest one of the tenant that has most in it fails with
 * CONCURRENCY_LIMIT_EXCEEDED.
 */
export function limitTrees(telemetry: Telemetry = noTelemetry): Layer {
  const queue = new ConcurrencyLimiter({
    running: atOnce,
    runningOfTenant: atOnceOfTenant,
    waiting: waitingMax,
    refusal: `${atOnce} explanations or expansions are being made and ${waitingMax} wait, retry in a second`,
    watcher: queueWatcher(telemetry, "trees"),
  });
  observeQueue(telemetry, "trees", () => queue.state);
  const queued: Around = async (operation, request, next) =>
    await queue.run(operation.tenantOf(request), operation.signalOf(request), () => next(request));
  return {
    only: {
      "permissions.explain": async (request, next) =>
        await queued(operations["permissions.explain"], request, () => next(request)),
      "permissions.expand": async (request, next) =>
        await queued(operations["permissions.expand"], request, () => next(request)),
    },
  };
}
