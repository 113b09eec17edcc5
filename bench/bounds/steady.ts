import { type Measurement, summaryOf } from "../measure.ts";

/** What came of requests at even distances. */
export interface SteadyMeasurement extends Omit<Measurement, "perSecond" | "p25" | "p95"> {
  readonly max: number;
  readonly count: number;
  /** Those that failed or had no answer in the end. */
  readonly failed: number;
}

/** Requests that go on. */
export interface Steady {
  /** Begins no more, and gives up what has no answer a while later; the latencies of them all. */
  readonly stop: () => Promise<readonly SteadyLatency[]>;
}

export interface SteadyLatency {
  readonly ms: number;
  readonly isFailed: boolean;
}

/** How often is looked whether one is due: a timer is late by as much. */
const tickMs = 2;

/** How long those that are under way have in the end. */
const lastMs = 2_000;

/**
 * Makes requests at even distances, whether or not those before are answered. A latency is counted from the
 * time at which the request was due.
 */
export function startSteady(
  everyMs: number,
  request: (signal: AbortSignal) => Promise<void>,
): Steady {
  const start = performance.now();
  const abort = new AbortController();
  const all: Promise<SteadyLatency>[] = [];
  const begin = async (due: number): Promise<SteadyLatency> => {
    const answered = await request(abort.signal).then(
      () => true,
      () => false,
    );
    return { ms: performance.now() - due, isFailed: !answered };
  };
  const timer = setInterval(() => {
    for (;;) {
      const due = start + all.length * everyMs;
      if (due > performance.now()) return;
      all.push(begin(due));
    }
  }, tickMs);
  return {
    stop: async () => {
      clearInterval(timer);
      const late = setTimeout(() => abort.abort(), lastMs);
      const latencies = await Promise.all(all);
      clearTimeout(late);
      return latencies;
    },
  };
}

export function steadyMeasurement(latencies: readonly SteadyLatency[]): SteadyMeasurement {
  const all = latencies.map(({ ms }) => ms);
  const { p50, p99 } = summaryOf(all, 1);
  return {
    p50,
    p99,
    max: Math.max(...all),
    count: all.length,
    failed: latencies.filter(({ isFailed }) => isFailed).length,
  };
}
