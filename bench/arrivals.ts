import { Worker } from "node:worker_threads";

import { must } from "../src/base/assert.ts";
import { type Measurement, summaryOf } from "./measure.ts";

export interface Arrivals {
  readonly perSecond: number;
  readonly seconds: number;
}

/** What came of work that arrives whether what came before is done or not. */
export interface ArrivalMeasurement extends Measurement {
  /** How many arrived each second; `perSecond` is how many were done, until the last one was. */
  readonly offered: number;
  readonly max: number;
  /** How late the generator itself began them, which is part of the latencies; milliseconds. */
  readonly lateness: { readonly p50: number; readonly p99: number };
}

/** What the thread says that keeps the time. */
export type PacerMessage =
  | { readonly kind: "started"; readonly at: number }
  /** So many are due, of all. */
  | { readonly kind: "due"; readonly count: number };

/** Milliseconds by the clock that all threads share. */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Does work at the times of a schedule. A latency is counted from the time at which the work was
 * due, so what has to wait because others take long counts as slow, also when it could not even be
 * begun. Fails with the first work that does.
 */
export async function measureArrivals(
  work: (nth: number) => Promise<void>,
  arrivals: Arrivals,
): Promise<ArrivalMeasurement> {
  const schedule = scheduleOf(arrivals);
  const latencies = new Float64Array(schedule.length);
  const lateness = new Float64Array(schedule.length);
  let start = 0;
  const run = async (nth: number): Promise<void> => {
    const due = start + must(schedule[nth], "it was due");
    lateness[nth] = clockMs() - due;
    await work(nth);
    latencies[nth] = clockMs() - due;
  };
  await new Promise<void>((resolve, reject) => {
    const pacer = new Worker(new URL("pacer.ts", import.meta.url), { workerData: { schedule } });
    const running: Promise<void>[] = [];
    pacer.on("message", (message: PacerMessage) => {
      if (message.kind === "started") {
        start = message.at;
        return;
      }
      while (running.length < message.count) {
        const piece = run(running.length);
        piece.catch(() => pacer.terminate());
        running.push(piece);
      }
    });
    pacer.on("error", reject);
    pacer.on("exit", () => {
      Promise.all(running).then(() => resolve(), reject);
    });
  });
  const seconds = (clockMs() - start) / 1_000;
  const late = summaryOf(lateness, seconds);
  return {
    ...summaryOf(latencies, seconds),
    offered: schedule.length / arrivals.seconds,
    max: latencies.reduce((most, each) => Math.max(most, each), 0),
    lateness: { p50: late.p50, p99: late.p99 },
  };
}

/** When each piece of work is due, in milliseconds from the start. */
function scheduleOf({ perSecond, seconds }: Arrivals): Float64Array<SharedArrayBuffer> {
  const count = Math.max(1, Math.round(perSecond * seconds));
  const times = new Float64Array(new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT));
  for (let nth = 0; nth < count; nth++) {
    // Times that are drawn evenly from all of it lie as the arrivals of a Poisson process do.
    times[nth] = Math.random() * seconds * 1_000;
  }
  return times.sort();
}
