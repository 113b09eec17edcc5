import type { Telemetry } from "../base/telemetry.ts";
import { type QueueWatcher, TurnQueue } from "./turn-queue.ts";

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

/** For each that is worked on so many may wait. */
const waitingShare = 10;

/** What is left of the places is for others, however slow that is with which a tenant fills its own. */
const shareOfTenant = 3 / 4;

/**
 * A queue that lets so many work at a time, of a tenant three quarters of them, and ten times as many
 * wait, and is told of. `working` says in a refusal what they are, with the key that sets how many.
 */
export function observedQueue(
  telemetry: Telemetry,
  queue: QueueName,
  { running, working }: { readonly running: number; readonly working: string },
): TurnQueue {
  const waiting = running * waitingShare;
  const turns = new TurnQueue({
    running,
    runningOfTenant: Math.ceil(running * shareOfTenant),
    waiting,
    refusal: `${running} ${working} and ${waiting} wait, retry in a second`,
    watcher: turnWatcher(telemetry, queue),
  });
  observeTurns(telemetry, queue, () => turns.state);
  return turns;
}
