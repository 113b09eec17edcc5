import type { Telemetry } from "../base/telemetry.ts";
import type { QueueWatcher } from "./turn-queue.ts";

/** What waits in a queue. */
type QueueName = "questions" | "reads" | "changes";

/** Tells of those who wait in a queue, and of those who were refused; nobody when nobody listens. */
export function turnWatcher(telemetry: Telemetry, queue: QueueName): QueueWatcher | undefined {
  if (!telemetry.isOn) return undefined;
  return {
    wait: async (turn) => {
      const start = performance.now();
      await telemetry.span("wait for a turn", turn);
      telemetry.record("pemba.turn.wait", (performance.now() - start) / 1_000, { queue });
    },
    refused: () => telemetry.add("pemba.turn.refused", 1, { queue }),
  };
}

/** Has it told how many work and how many wait. */
export function observeTurns(
  telemetry: Telemetry,
  queue: QueueName,
  state: () => { readonly running: number; readonly waiting: number },
): void {
  telemetry.observe("pemba.turn.running", () => [{ value: state().running, labels: { queue } }]);
  telemetry.observe("pemba.turn.waiting", () => [{ value: state().waiting, labels: { queue } }]);
}
