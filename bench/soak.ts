import { setTimeout as wait } from "node:timers/promises";

import type { Dataset } from "../test/data/dataset.ts";
import { type ArrivalMeasurement, measureArrivals } from "./arrivals.ts";
import { connectBoth } from "./clients/both.ts";
import { measureWork } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { megabytesOf, type PembaServing, serveDatabase } from "./serving.ts";
import { mixedWork } from "./soak/mixed-work.ts";
import { watchWrites } from "./soak/watchers.ts";
import { presentStateOf } from "./store.ts";

export interface SoakOptions {
  readonly minutes: number;
  /** Processes that serve. */
  readonly workers: number;
  /** Of the search for the capacity. */
  readonly seconds: number;
  readonly keep: boolean;
}

export interface SoakSample {
  readonly minute: number;
  readonly megabytes: number;
}

export interface SoakResult {
  readonly minutes: number;
  /** Requests of the mixture a second, at most. */
  readonly capacity: number;
  readonly requests: ArrivalMeasurement;
  /** How often each kind of request was made. */
  readonly kinds: Readonly<Record<string, number>>;
  /** How often each error came, by its text. */
  readonly errors: Readonly<Record<string, number>>;
  /** Changes that were made, and those that a stream has not delivered a while after the last one. */
  readonly changes: number;
  readonly undelivered: number;
  readonly samples: readonly SoakSample[];
  /** By which the memory grows once all has been done for a while. */
  readonly megabytesPerHour: number;
}

const part = 0.7;
const callersAtCapacity = 32;
const samplesWanted = 120;
/** The first part of the samples shows how caches fill and code is compiled. */
const warmUpPart = 1 / 3;

/**
 * Has one `pemba serve` on Postgres do everything at once for so many minutes, at a part of what it
 * can: checks, lookups, writes and deletes over REST and gRPC, and streams of changes over both.
 */
export async function benchSoak(
  server: BenchServer,
  dataset: Dataset,
  options: SoakOptions,
  print: (line: string) => void,
): Promise<SoakResult> {
  const database = await loadDatabase(server, dataset, print);
  const serving = await serveDatabase(database.url, options.workers);
  const clients = connectBoth(serving, callersAtCapacity);
  try {
    const watchers = watchWrites(clients, await presentStateOf(database.url));
    const mixed = mixedWork(clients, dataset);
    const load = { inFlight: callersAtCapacity, seconds: options.seconds };
    await measureWork(mixed.work, load);
    const { perSecond: capacity } = await measureWork(mixed.work, load);
    print(`capacity ${figure(capacity)} requests/s, ${options.minutes} minutes at ${part * 100} %`);
    const perSecond = part * capacity;
    const arrivals = { perSecond, seconds: options.minutes * 60 };
    const sampling = sampleMemory(serving, options.minutes);
    const requests = await measureArrivals(mixed.work, arrivals);
    const samples = await sampling;
    const { kinds, errors, changes } = mixed.state();
    const undelivered = await watchers.undelivered(changes);
    await watchers.close();
    const megabytesPerHour = slope(samples.slice(Math.floor(samples.length * warmUpPart))) * 60;
    const found = {
      minutes: options.minutes,
      capacity,
      requests,
      kinds,
      errors,
      changes,
      undelivered,
    };
    const result = { ...found, samples, megabytesPerHour };
    print(`\n${soakText(result)}`);
    return result;
  } finally {
    await clients.close();
    await serving.stop();
    if (!options.keep) await database.drop();
  }
}

async function sampleMemory({ pid }: PembaServing, minutes: number): Promise<SoakSample[]> {
  const samples: SoakSample[] = [];
  const start = performance.now();
  for (let nth = 1; nth <= samplesWanted; nth++) {
    const megabytes = await megabytesOf(pid);
    samples.push({ minute: (performance.now() - start) / 60_000, megabytes });
    // To look at the memory of a busy machine takes a while, too.
    await wait(Math.max(0, start + (nth / samplesWanted) * minutes * 60_000 - performance.now()));
  }
  return samples;
}

/** Of the line that lies nearest to the samples (least squares), in MB a minute. */
function slope(samples: readonly SoakSample[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const minute = mean(samples.map((sample) => sample.minute));
  const megabytes = mean(samples.map((sample) => sample.megabytes));
  const across = mean(samples.map((s) => (s.minute - minute) * (s.megabytes - megabytes)));
  return across / mean(samples.map((sample) => (sample.minute - minute) ** 2));
}

function soakText(result: SoakResult): string {
  const { requests, kinds, errors, samples } = result;
  const { offered, perSecond, p50, p95, p99, max } = requests;
  const failed = Object.entries(errors).map(([text, count]) => `  ${count} x ${text}`);
  const shown = samples.filter((_, nth) => nth % (samplesWanted / 12) === 0);
  return [
    formatTable(
      ["offered/s", "done/s", "p50 ms", "p95", "p99", "max"],
      [[offered, perSecond, p50, p95, p99, max].map(figure)],
    ),
    formatTable(
      ["requests", "times"],
      Object.entries(kinds).map(([kind, times]) => [kind, times.toLocaleString("en")]),
    ),
    formatTable(
      ["minute", "rss MB"],
      shown.map(({ minute, megabytes }) => [figure(minute), figure(megabytes)]),
    ),
    [`errors: ${failed.length === 0 ? "none" : ""}`, ...failed].join("\n"),
    `${result.changes} changes, ${result.undelivered} of them not delivered by every stream`,
    `memory after the first third: ${figure(result.megabytesPerHour)} MB an hour`,
  ].join("\n\n");
}
