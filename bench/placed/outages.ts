import { setTimeout as wait } from "node:timers/promises";

import { medianOfNumbers } from "../measure.ts";
import { processorSeconds } from "../processor-time.ts";
import { figure, formatTable } from "../report.ts";
import type { BenchCluster, BenchClusters } from "./clusters.ts";
import {
  arriveFor,
  collect,
  type Compared,
  compare,
  comparedCells,
  type Latencies,
} from "./load.ts";
import type { BenchTenant } from "./tenants.ts";

export interface OutageResult {
  readonly kind: "down" | "silent";
  /** Of tenants of the other clusters, with all clusters and without the one. */
  readonly others: Compared;
  /** The processor time of the instance in each second, in milliseconds, likewise. */
  readonly instance: { readonly without: number; readonly meanwhile: number };
  /** The longest that a request of the lost cluster took until it was refused, in milliseconds. */
  readonly refusedMs: number;
  /** The longest that the returned cluster took until it answered again. */
  readonly backMs: number;
}

/** Requests a second of the tenant of the cluster that is lost. */
const perSecond = 20;
const lookEveryMs = 20;
const turns = 6;

/** One of the clusters goes away and comes back, again and again, and nothing is done by hand. */
export async function measureOutage(
  kind: OutageResult["kind"],
  clusters: Pick<BenchClusters, "of" | "serving">,
  tenants: { readonly lost: BenchTenant; readonly others: readonly BenchTenant[] },
  seconds: number,
): Promise<OutageResult> {
  const { lost, others } = tenants;
  const { server } = clusters.of.c;
  const turn = async (work: () => Promise<void>): Promise<Turn> => {
    const before = await processorSeconds(clusters.serving.pid);
    const end = AbortSignal.timeout(Math.round((seconds / turns) * 1_000));
    const begun = performance.now();
    const [latencies, asked] = await Promise.all([
      arriveFor(others, seconds / turns),
      collect(work, perSecond, end),
    ]);
    const spent = (await processorSeconds(clusters.serving.pid)) - before;
    const processorMs = (spent * 1_000_000) / (performance.now() - begun);
    return { latencies, asked, processorMs };
  };
  const refused = async (): Promise<void> => {
    if (await isServed(lost)) throw new Error("a cluster that is lost has answered");
  };
  const without: Turn[] = [];
  const meanwhile: Turn[] = [];
  const backMs: number[] = [];
  for (let nth = 0; nth < turns; nth++) {
    without.push(await turn(lost.check));
    await lose(kind, server);
    meanwhile.push(await turn(refused));
    await giveBack(kind, server);
    const returned = performance.now();
    while (!(await isServed(lost))) await wait(lookEveryMs);
    backMs.push(performance.now() - returned);
  }
  const latenciesOf = (list: readonly Turn[]): readonly Latencies[] =>
    list.map(({ latencies }) => latencies);
  const processorOf = (list: readonly Turn[]): number =>
    medianOfNumbers(list.map(({ processorMs }) => processorMs));
  return {
    kind,
    others: compare(latenciesOf(without), latenciesOf(meanwhile)),
    instance: { without: processorOf(without), meanwhile: processorOf(meanwhile) },
    refusedMs: Math.max(...meanwhile.flatMap(({ asked }) => asked)),
    backMs: Math.max(...backMs),
  };
}

interface Turn {
  readonly latencies: Latencies;
  /** Latencies of requests to the cluster that is lost. */
  readonly asked: readonly number[];
  /** In each second, of the instance. */
  readonly processorMs: number;
}

async function lose(kind: OutageResult["kind"], server: BenchCluster["server"]): Promise<void> {
  if (kind === "down") await server.halt();
  else await server.signal("SIGSTOP", "all");
}

async function giveBack(kind: OutageResult["kind"], server: BenchCluster["server"]): Promise<void> {
  if (kind === "down") await server.restart();
  else await server.signal("SIGCONT", "all");
}

async function isServed(tenant: BenchTenant): Promise<boolean> {
  return await tenant.check().then(
    () => true,
    () => false,
  );
}

export function outageTable(results: readonly OutageResult[]): string {
  return formatTable(
    [
      "cluster",
      "others: checks p99",
      "meanwhile",
      "ratio",
      "of turns",
      "writes p99",
      "meanwhile",
      "ratio",
      "of turns",
      "instance ms/s",
      "meanwhile",
      "refused ms",
      "back ms",
    ],
    results.map(({ kind, others, instance, refusedMs, backMs }) => [
      kind,
      ...comparedCells(others),
      figure(instance.without),
      figure(instance.meanwhile),
      figure(refusedMs),
      figure(backMs),
    ]),
  );
}
