import { must } from "../../src/base/assert.ts";
import { pause } from "../../src/base/pause.ts";
import { type Measurement, medianOfNumbers, summaryOf } from "../measure.ts";
import { figure } from "../report.ts";
import type { BenchTenant } from "./tenants.ts";

/** Requests a second of one tenant: little enough for two processors and four servers. */
const checksPerSecond = 60;
const writesPerSecond = 20;

/** Latencies of requests that arrive whether those before are answered or not, in milliseconds. */
export interface Latencies {
  readonly checks: readonly number[];
  readonly writes: readonly number[];
}

/** What requests take without something and meanwhile, in turns of equal length. */
export interface Compared {
  readonly checks: ComparedKind;
  readonly writes: ComparedKind;
}

export interface ComparedKind {
  /** Of the requests of all turns. */
  readonly without: Measurement;
  readonly meanwhile: Measurement;
  /** The median of the ratios of p99 in neighbouring turns. */
  readonly ratioOfTurns: number;
}

/** Has checks and writes of the tenants arrive until the signal, and fails with the first that does. */
export async function arrive(
  tenants: readonly BenchTenant[],
  signal: AbortSignal,
): Promise<Latencies> {
  const each = await Promise.all(
    tenants.map(async ({ check, write }) => {
      const [checks, writes] = await Promise.all([
        collect(check, checksPerSecond, signal),
        collect(write, writesPerSecond, signal),
      ]);
      return { checks, writes };
    }),
  );
  return {
    checks: each.flatMap(({ checks }) => checks),
    writes: each.flatMap(({ writes }) => writes),
  };
}

/** The same for some seconds. */
export async function arriveFor(
  tenants: readonly BenchTenant[],
  seconds: number,
): Promise<Latencies> {
  return await arrive(tenants, AbortSignal.timeout(seconds * 1_000));
}

export function compare(without: readonly Latencies[], meanwhile: readonly Latencies[]): Compared {
  return {
    checks: compareKind(without, meanwhile, ({ checks }) => checks),
    writes: compareKind(without, meanwhile, ({ writes }) => writes),
  };
}

function compareKind(
  without: readonly Latencies[],
  meanwhile: readonly Latencies[],
  kindOf: (latencies: Latencies) => readonly number[],
): ComparedKind {
  const of = (turns: readonly Latencies[]): Measurement => summaryOf(turns.flatMap(kindOf), 1);
  const turns = Math.min(without.length, meanwhile.length);
  const p99At = (list: readonly Latencies[], turn: number): number =>
    summaryOf(kindOf(must(list[turn], "both have as many turns")), 1).p99;
  const ratios = Array.from(
    { length: turns },
    (_, turn) => p99At(meanwhile, turn) / p99At(without, turn),
  );
  return {
    without: of(without),
    meanwhile: of(meanwhile),
    ratioOfTurns: medianOfNumbers(ratios),
  };
}

/** Of a table: the p99 of checks and of writes, without it and meanwhile, with both ratios. */
export function comparedCells({ checks, writes }: Compared): readonly string[] {
  return [checks, writes].flatMap(({ without, meanwhile, ratioOfTurns }) => [
    figure(without.p99),
    figure(meanwhile.p99),
    figure(meanwhile.p99 / without.p99),
    figure(ratioOfTurns),
  ]);
}

/** Does work at random times. A latency counts from the time at which the work was due. */
export async function collect(
  work: () => Promise<void>,
  perSecond: number,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const latencies: number[] = [];
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  for (let due = performance.now(); ;) {
    due += (-Math.log(1 - Math.random()) / perSecond) * 1_000;
    const left = due - performance.now();
    if (left > 0) await pause(left, signal);
    if (signal.aborted || failure !== undefined) break;
    const begun = due;
    const piece = work().then(
      () => void latencies.push(performance.now() - begun),
      (error: unknown) => void (failure ??= { error }),
    );
    running.add(piece);
    void piece.finally(() => running.delete(piece));
  }
  await Promise.all(running);
  if (failure !== undefined) throw failure.error;
  return latencies;
}
