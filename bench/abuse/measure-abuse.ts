import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { type SteadyMeasurement, steadyMeasurement } from "../bounds/steady.ts";
import type { Abuse } from "./abuses.ts";
import { type MemorySample, sampleMemory } from "./memory.ts";
import { openNeighbour, writeScene } from "./neighbour.ts";
import type { AbuseTarget } from "./requests.ts";

/** A server to abuse; without the id of its process, nothing is said of memory. */
export interface AbusedServer {
  readonly url: string;
  readonly grpc: string;
  readonly pid: number | undefined;
}

export interface AbuseTimes {
  /** Before, and as long as the neighbour is asked after the abuse. */
  readonly quietSeconds: number;
  readonly abuseSeconds: number;
  /** After the abuse, until memory is looked at for the last time. */
  readonly settleSeconds: number;
}

export interface AbuseResult {
  readonly engine: string;
  readonly name: string;
  readonly before: SteadyMeasurement;
  readonly during: SteadyMeasurement;
  readonly after: SteadyMeasurement;
  /** Why the neighbour was not answered, by text. */
  readonly failures: Readonly<Record<string, number>>;
  /** What became of the requests of the abuse, by text. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** In MiB: before, the most, and at the end. */
  readonly memory:
    | { readonly before: number; readonly peak: number; readonly end: number }
    | undefined;
  readonly samples: readonly MemorySample[];
  readonly isMissed: boolean;
}

/** What is wanted of each abuse. */
export const wanted = { p99: 250, peak: 700, end: 400 };

const abuser = fileURLToPath(new URL("abuser.ts", import.meta.url));

/** Abuses a server as one tenant while another one asks. */
export async function measureAbuse(
  { url, grpc, pid }: AbusedServer,
  engine: string,
  { abuse, times }: { readonly abuse: Abuse; readonly times: AbuseTimes },
): Promise<AbuseResult> {
  const mine: AbuseTarget = { url, grpc, tenant: `neighbour-${randomUUID()}`.slice(0, 40) };
  const theirs: AbuseTarget = { url, grpc, tenant: `abuser-${randomUUID()}`.slice(0, 40) };
  await writeScene(mine);
  await writeScene(theirs);
  const neighbour = await openNeighbour(mine);
  const memory = pid === undefined ? undefined : sampleMemory(pid);
  const during = async (seconds: number, work?: () => Promise<void>) => {
    const asking = neighbour.ask();
    await Promise.all([wait(seconds * 1_000), work?.()]);
    return steadyMeasurement(await asking.stop());
  };
  const before = await during(times.quietSeconds);
  let outcomes: Record<string, number> = {};
  const abused = await during(times.abuseSeconds, async () => {
    outcomes = await runAbuser(abuse, theirs, times.abuseSeconds);
  });
  const after = await during(times.quietSeconds);
  await wait(Math.max(0, times.settleSeconds - times.quietSeconds) * 1_000);
  const samples = memory?.stop() ?? [];
  await neighbour.close();
  const quiet = samples.filter(({ seconds }) => seconds < times.quietSeconds);
  const figures = memoryOf(quiet, samples);
  return {
    engine,
    name: abuse.name,
    before,
    during: abused,
    after,
    failures: Object.fromEntries(neighbour.failures),
    outcomes,
    memory: figures,
    samples,
    isMissed:
      abused.p99 > wanted.p99 ||
      abused.failed > 0 ||
      (figures !== undefined && (figures.peak > wanted.peak || figures.end > wanted.end)),
  };
}

async function runAbuser(
  abuse: Abuse,
  { url, grpc, tenant }: AbuseTarget,
  seconds: number,
): Promise<Record<string, number>> {
  const child = fork(abuser, [abuse.name, url, grpc, tenant]);
  const ended = once(child, "exit");
  const told = once(child, "message");
  await wait(seconds * 1_000);
  child.send("stop");
  const [outcomes] = await Promise.race([
    told,
    ended.then(([status]) => {
      throw new Error(`the abuser ended with ${status}`);
    }),
  ]);
  await ended;
  return outcomes as Record<string, number>;
}

function memoryOf(quiet: readonly MemorySample[], all: readonly MemorySample[]) {
  const last = all.at(-1);
  if (last === undefined) return undefined;
  const most = (samples: readonly MemorySample[]): number =>
    Math.max(...samples.map(({ mebibytes }) => mebibytes));
  return { before: most(quiet), peak: most(all), end: last.mebibytes };
}
