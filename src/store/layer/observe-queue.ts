import type { Telemetry } from "../../base/telemetry.ts";
import { type QueueWatcher, ConcurrencyLimiter } from "./concurrency-limiter.ts";

/** The queues by their names in metrics. */
type QueueName = "questions" | "reads" | "changes";

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

/** How many may wait for each one that runs. */
const waitingShare = 10;

/**
 * The largest share of one tenant. The rest is left to others, even if that tenant's work is slow.
 */
const shareOfTenant = 3 / 4;

/**
 * Makes an observed queue. `running` operations run at a time, at most three quarters of them for
 * one tenant, and ten times as many may wait. In a refusal, `working` says what runs and names the
 * key that sets the limit.
 */
export function observedLimiter(
  telemetry: Telemetry,
  queue: QueueName,
  { running, working }: { readonly running: number; readonly working: string },
): ConcurrencyLimiter {
  const waiting = running * waitingShare;
  const fair = new ConcurrencyLimiter({
    running,
    runningOfTenant: Math.ceil(running * shareOfTenant),
    waiting,
    refusal: `${running} ${working} and ${waiting} wait, retry in a second`,
    watcher: queueWatcher(telemetry, queue),
  });
  observeQueue(telemetry, queue, () => fair.state);
  return fair;
}
