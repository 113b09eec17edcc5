import { parentPort, workerData } from "node:worker_threads";

import { must } from "../src/base/assert.ts";
import { clockMs, type PacerMessage } from "./arrivals.ts";

/*
 * A thread that wakes when the next piece of work is due and says so. It can wait for parts of a
 * millisecond, which timers can't, without taking a processor from the server that is measured.
 */

const port = must(parentPort, "it runs as a thread");
const { schedule }: { readonly schedule: Float64Array } = workerData;
const never = new Int32Array(new SharedArrayBuffer(4));

const start = clockMs();
tell({ kind: "started", at: start });
for (let due = 0; due < schedule.length;) {
  const next = must(schedule[due], "there is one more");
  const wait = start + next - clockMs();
  if (wait > 0) Atomics.wait(never, 0, 0, wait);
  const now = clockMs() - start;
  while (due < schedule.length && must(schedule[due], "there is one more") <= now) due += 1;
  tell({ kind: "due", count: due });
}

function tell(message: PacerMessage): void {
  port.postMessage(message);
}
