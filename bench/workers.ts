import assert from "node:assert/strict";
import { availableParallelism } from "node:os";

import type { Dataset, QuestionClass } from "../test/data/dataset.ts";
import { type Transport, transports } from "./clients/client.ts";
import { connectGrpc } from "./clients/grpc.ts";
import { connectRest } from "./clients/rest.ts";
import {
  type Ask,
  measure,
  type Measurement,
  medianOf,
  medianOfNumbers,
  warmUp,
} from "./measure.ts";
import { childrenOf, familySeconds, postmasterOf, processorSeconds } from "./processor-time.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { keepOn, type PembaServing, serveDatabase } from "./serving.ts";
import { usualInTurn } from "./usual-questions.ts";

export interface WorkersOptions {
  readonly runs: number;
  readonly seconds: number;
  readonly keep: boolean;
}

/** Processor time of one check, in microseconds. */
export interface CheckCosts {
  /** Of all its processes. */
  readonly service: number;
  /** Of the first one of these, which does not answer if there are several. */
  readonly supervisor: number;
  readonly postgres: number;
  readonly client: number;
}

/** What an instance with so many workers comes to. */
export interface WorkersSide extends Measurement {
  readonly workers: number;
  readonly costs: CheckCosts;
  /** Checks a second if the clients had a machine of their own. */
  readonly alone: number;
}

export interface ComparedWorkers {
  readonly questions: string;
  readonly transport: Transport;
  readonly one: WorkersSide;
  readonly several: WorkersSide;
  /** Of the throughputs, measured and without the clients. */
  readonly ratio: number;
  readonly ratioAlone: number;
}

/** So many callers for each worker, so that each has as much to do as one alone. */
const callersOfWorker = 32;
/** For each worker, since one connection leads to one worker. */
const grpcConnectionsOfWorker = 8;
const warmUpRequests = 4_000;

/** Asked before this process is kept on one of them. */
const processors = availableParallelism();

/** An instance that runs, and how it is asked. */
interface WorkersInstance {
  readonly workers: number;
  readonly serving: PembaServing;
  readonly ask: Readonly<Record<Transport, Ask>>;
  readonly close: () => Promise<void>;
}

/**
 * Flat checks and the usual ones, of an instance with one worker in turn with one that has a worker for each processor.
 * All workers are kept on one processor, and the clients and Postgres on another one. There each worker always has
 * something to do, as on a processor of its own: one that waits for clients in between takes more time for a check.
 */
export async function benchWorkers(
  server: BenchServer,
  dataset: Dataset,
  options: WorkersOptions,
  print: (line: string) => void,
): Promise<readonly ComparedWorkers[]> {
  const database = await loadDatabase(server, dataset, print);
  const postmaster = await postmasterOf(database.url);
  const [ofService, ofOthers] = [0, 1];
  const sides = [await start(database.url, 1), await start(database.url, processors)] as const;
  try {
    // After the start: an instance that is kept on one processor starts one worker.
    for (const { workers, serving } of sides) {
      await keepFamilyOn(ofService, serving.pid);
      if (workers > 1) assert.equal((await childrenOf(serving.pid)).length, workers);
    }
    const isApart = await keepFamilyOn(ofOthers, postmaster);
    await keepOn(ofOthers, process.pid);
    if (!isApart) print("all share the processors: the service waits for clients at times");
    const results: ComparedWorkers[] = [];
    for (const mix of mixesOf(dataset)) {
      for (const transport of transports) {
        results.push(await compare(sides, { mix, transport, postmaster }, options));
      }
    }
    print(`\n${workersTable(results)}`);
    return results;
  } finally {
    await Promise.all(sides.map(async ({ close }) => await close()));
    if (!options.keep) await database.drop();
  }
}

/** The cheapest class by itself, and the usual ones in turn. */
function mixesOf(dataset: Dataset): readonly QuestionClass[] {
  return [...dataset.classes.filter(({ name }) => name === "shallow"), usualInTurn(dataset)];
}

/** Keeps a process, its children and those to come on one processor. Resolves to whether that can be done. */
async function keepFamilyOn(processor: number, pid: number): Promise<boolean> {
  const isKept = await keepOn(processor, pid);
  // Some of them may end meanwhile.
  for (const child of await childrenOf(pid)) await keepOn(processor, child);
  return isKept;
}

async function start(url: string, workers: number): Promise<WorkersInstance> {
  const serving = await serveDatabase(url, workers);
  const rest = connectRest(serving.url, workers * callersOfWorker);
  const connections = workers * grpcConnectionsOfWorker;
  const grpc = Array.from({ length: connections }, () =>
    connectGrpc(serving.grpc, { isAlone: true }),
  );
  let next = 0;
  return {
    workers,
    serving,
    ask: {
      rest: rest.check,
      grpc: async (question) => {
        next = (next + 1) % connections;
        const client = grpc[next] ?? rest;
        return await client.check(question);
      },
    },
    close: async () => {
      await rest.close();
      await Promise.all(grpc.map(async (client) => await client.close()));
      await serving.stop();
    },
  };
}

async function compare(
  [one, several]: readonly [WorkersInstance, WorkersInstance],
  asked: {
    readonly mix: QuestionClass;
    readonly transport: Transport;
    readonly postmaster: number;
  },
  { runs, seconds }: WorkersOptions,
): Promise<ComparedWorkers> {
  const { mix, transport } = asked;
  for (const { ask, workers } of [one, several]) {
    const load = { inFlight: workers * callersOfWorker, count: workers * warmUpRequests };
    await warmUp(ask[transport], mix.questions, load);
  }
  const measured: [WorkersSide[], WorkersSide[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    measured[0].push(await measureSide(one, asked, seconds));
    measured[1].push(await measureSide(several, asked, seconds));
  }
  const [before, after] = [medianSide(measured[0]), medianSide(measured[1])];
  return {
    questions: mix.name,
    transport,
    one: before,
    several: after,
    ratio: after.perSecond / before.perSecond,
    ratioAlone: after.alone / before.alone,
  };
}

async function measureSide(
  { workers, serving, ask }: WorkersInstance,
  { mix, transport, postmaster }: Parameters<typeof compare>[1],
  seconds: number,
): Promise<WorkersSide> {
  const spent = async (): Promise<CheckCosts> => ({
    service: await familySeconds(serving.pid),
    supervisor: workers === 1 ? 0 : await processorSeconds(serving.pid),
    postgres: await familySeconds(postmaster),
    client: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  });
  const before = await spent();
  const load = { inFlight: workers * callersOfWorker, seconds };
  const began = performance.now();
  const measurement = await measure(ask[transport], mix.questions, load);
  const checks = (measurement.perSecond * (performance.now() - began)) / 1_000;
  const after = await spent();
  const costOf = (part: keyof CheckCosts): number => ((after[part] - before[part]) / checks) * 1e6;
  const costs = {
    service: costOf("service"),
    supervisor: costOf("supervisor"),
    postgres: costOf("postgres"),
    client: costOf("client"),
  };
  return { ...measurement, workers, costs, alone: withoutClients(workers, costs) };
}

/** The service has so many processors as workers at most, and the machine is shared with Postgres. */
function withoutClients(workers: number, { service, postgres }: CheckCosts): number {
  const ofService = workers / service;
  const ofMachine = processors / (service + postgres);
  return Math.min(ofService, ofMachine) * 1e6;
}

function medianSide(runs: readonly WorkersSide[]): WorkersSide {
  const of = (figureOf: (run: WorkersSide) => number): number =>
    medianOfNumbers(runs.map(figureOf));
  return {
    ...medianOf(runs),
    workers: of((run) => run.workers),
    costs: {
      service: of(({ costs }) => costs.service),
      supervisor: of(({ costs }) => costs.supervisor),
      postgres: of(({ costs }) => costs.postgres),
      client: of(({ costs }) => costs.client),
    },
    alone: of((run) => run.alone),
  };
}

function workersTable(results: readonly ComparedWorkers[]): string {
  const headings = ["questions", "over", "workers", "checks/s", "ratio", "p50 ms", "p99"];
  const costs = [
    "service us",
    "supervisor us",
    "postgres us",
    "client us",
    "without clients/s",
    "ratio",
  ];
  return formatTable(
    [...headings, ...costs],
    results.flatMap(({ questions, transport, one, several, ratio, ratioAlone }) =>
      [one, several].map((side) => [
        questions,
        transport,
        String(side.workers),
        figure(side.perSecond),
        side === one ? "" : figure(ratio),
        ...[side.p50, side.p99].map(figure),
        ...[side.costs.service, side.costs.supervisor].map(figure),
        ...[side.costs.postgres, side.costs.client].map(figure),
        figure(side.alone),
        side === one ? "" : figure(ratioAlone),
      ]),
    ),
  );
}
