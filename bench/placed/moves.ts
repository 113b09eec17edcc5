import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";

import { startPemba } from "../../test/support/pemba.ts";
import { figure, formatTable } from "../report.ts";
import { clusterSettings } from "../serving.ts";
import { type BenchClusters, type ClusterName, namesOf } from "./clusters.ts";
import {
  arrive,
  arriveFor,
  type Compared,
  compare,
  comparedCells,
  type Latencies,
} from "./load.ts";
import type { BenchTenant } from "./tenants.ts";

export interface MoveResult {
  /** Tuples per second at most; undefined: as fast as it goes. */
  readonly rate: number | undefined;
  /** Without the times in which its process was stopped. */
  readonly seconds: number;
  readonly stopMs: number;
  /** Of neighbours on both clusters, while it goes on and while its process is stopped. */
  readonly copying: Compared;
  /** The same from the switch on, while it removes rows; undefined: that was over too soon to tell. */
  readonly removing: Compared | undefined;
}

/** In each turn the move goes on for so long, and is then stopped for as long. */
const turnSeconds = 4;

/** What was asked of the servers before the process was stopped is done after this. */
const settleMs = 300;

/**
 * The move of a large tenant, and what its neighbours notice. The process that moves is stopped and goes on in
 * turns, so that other load of the machine hits both alike.
 */
export async function measureMove(
  clusters: BenchClusters,
  {
    tenant,
    to,
    rate,
    neighbours,
  }: {
    readonly tenant: string;
    readonly to: ClusterName;
    readonly rate: number | undefined;
    readonly neighbours: readonly BenchTenant[];
  },
): Promise<MoveResult> {
  const moved = new AbortController();
  const ended = new AbortController();
  const words = ["tenant", "move", tenant, "--to", to];
  const running = startPemba([...words, ...(rate === undefined ? [] : ["--rate", String(rate)])], {
    env: clusterSettings(namesOf(clusters.all)),
    onOutput: (text) => {
      if (text.includes("moved ")) moved.abort();
    },
  });
  const finished = running.finished.finally(() => {
    moved.abort();
    ended.abort();
  });
  // The start of a process, which may be on another machine, is none of it.
  await Promise.race([progressOf(running.process), finished]);
  const copying = await inTurns(running.process, neighbours, moved.signal);
  const removing = await inTurns(running.process, neighbours, ended.signal);
  const { status, stdout, stderr } = await finished;
  if (status !== 0) throw new Error(`the move failed: ${stderr}`);
  return {
    rate,
    seconds: copying.workedMs / 1_000,
    stopMs: Number(/stopped for (\d+) ms/.exec(stdout)?.[1]),
    copying: compare(copying.stopped, copying.working),
    removing:
      removing.stopped.length === 0 ? undefined : compare(removing.stopped, removing.working),
  };
}

/** Resolves when it tells of its progress for the first time. */
async function progressOf({ stderr }: ChildProcess): Promise<void> {
  if (stderr !== null) await once(stderr, "data");
}

interface Turns {
  readonly working: readonly Latencies[];
  readonly stopped: readonly Latencies[];
  readonly workedMs: number;
}

/** Has requests arrive until the signal, in turns while the process works and while it is stopped. */
async function inTurns(
  worker: ChildProcess,
  tenants: readonly BenchTenant[],
  signal: AbortSignal,
): Promise<Turns> {
  const working: Latencies[] = [];
  const stopped: Latencies[] = [];
  let workedMs = 0;
  while (!signal.aborted) {
    const begun = performance.now();
    const over = AbortSignal.any([signal, AbortSignal.timeout(turnSeconds * 1_000)]);
    working.push(await arrive(tenants, over));
    workedMs += performance.now() - begun;
    if (signal.aborted) break;
    worker.kill("SIGSTOP");
    try {
      await wait(settleMs);
      stopped.push(await arriveFor(tenants, turnSeconds));
    } finally {
      worker.kill("SIGCONT");
    }
  }
  return { working, stopped, workedMs };
}

export function moveTable(results: readonly MoveResult[]): string {
  return formatTable(
    [
      "rate",
      "s",
      "stop ms",
      "neighbours",
      "checks p99",
      "meanwhile",
      "ratio",
      "of turns",
      "writes p99",
      "meanwhile",
      "ratio",
      "of turns",
    ],
    results.flatMap((result) =>
      (["copying", "removing"] as const).flatMap((part) => {
        const compared = result[part];
        if (compared === undefined) return [];
        return [
          [
            result.rate === undefined ? "any" : figure(result.rate),
            figure(result.seconds),
            figure(result.stopMs),
            part,
            ...comparedCells(compared),
          ],
        ];
      }),
    ),
  );
}
