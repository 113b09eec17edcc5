import assert from "node:assert/strict";
import { availableParallelism } from "node:os";

import { must } from "../src/base/assert.ts";
import type { Dataset, Question, QuestionClass } from "../test/data/dataset.ts";
import { type Transport, transports } from "./clients/client.ts";
import type { LightConnection } from "./clients/light-connection.ts";
import { askOn, connectLight } from "./clients/light.ts";
import {
  type Ask,
  measure,
  type Measurement,
  medianOf,
  medianOfNumbers,
  warmUp,
} from "./measure.ts";
import {
  childrenOf,
  familySeconds,
  postmasterOf,
  processorSeconds,
  threadsMicroseconds,
} from "./processor-time.ts";
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

/** What an instance with so many workers comes to. The throughput is that of one worker at a time. */
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
  /** Their processors are not those of Postgres. */
  readonly several: WorkersSide;
  /** Each shares its processor with Postgres. */
  readonly sharing: WorkersSide;
  /** Of the throughputs without clients, several to one. */
  readonly ratio: number;
  readonly ratioSharing: number;
}

const wantedRatio = 1.6;

/** So many callers of each worker, one after the other. */
const callersOfWorker = 32;
/** For each worker, since one connection leads to one worker. */
const connectionsOfWorker = { rest: callersOfWorker, grpc: 8 };
const warmUpRequests = 8_000;

/** Asked before this process is kept on one of them. */
const processors = availableParallelism();

/** An instance that runs, and how each of its workers is asked. */
interface WorkersInstance {
  readonly workers: number;
  readonly serving: PembaServing;
  readonly ask: Readonly<Record<Transport, readonly Ask[]>>;
  readonly close: () => Promise<void>;
}

/**
 * Flat checks and the usual ones, of an instance with one worker in turn with one that has a worker for each processor.
 * The clients have a processor of their own, so what they take is not in the way. The other one is that of a worker.
 * Several workers answer one after the other on it: at the same time they would take it from each other, which
 * no two workers of a machine do that has a processor for each. Postgres is with the clients, and then with the
 * workers once more: where there are as many workers as processors, it takes its time from theirs.
 */
export async function benchWorkers(
  server: BenchServer,
  dataset: Dataset,
  options: WorkersOptions,
  print: (line: string) => void,
): Promise<readonly ComparedWorkers[]> {
  const database = await loadDatabase(server, dataset, print);
  const postmaster = await postmasterOf(database.url);
  const question = must(mixesOf(dataset)[0]?.questions[0], "a class has questions");
  const sides = [
    await start(database.url, 1, question),
    await start(database.url, processors, question),
  ] as const;
  try {
    // After the start: an instance that is kept on one processor starts one worker.
    for (const { workers, serving } of sides) {
      await keepFamilyOn(ofService, serving.pid);
      if (workers > 1) assert.equal((await childrenOf(serving.pid)).length, workers);
    }
    const isApart = await keepOn(ofClients, process.pid);
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

const [ofService, ofClients] = [0, 1];

/** The cheapest class by itself, and the usual ones in turn. */
function mixesOf(dataset: Dataset): readonly QuestionClass[] {
  return [...dataset.classes.filter(({ name }) => name === "shallow"), usualInTurn(dataset)];
}

/** Keeps a process and its children, and those to come, on one processor. */
async function keepFamilyOn(processor: number, pid: number): Promise<void> {
  await keepOn(processor, pid);
  // Some of them may end meanwhile.
  for (const child of await childrenOf(pid)) await keepOn(processor, child);
}

async function start(url: string, workers: number, question: Question): Promise<WorkersInstance> {
  const serving = await serveDatabase(url, workers);
  const [rest, grpc] = [
    await connectWorkers("rest", serving, question),
    await connectWorkers("grpc", serving, question),
  ];
  return {
    workers,
    serving,
    ask: {
      rest: rest.map((connections) => askOn(connections, callersOfWorker)),
      grpc: grpc.map((connections) => askOn(connections, callersOfWorker)),
    },
    close: async () => {
      for (const { close } of [...rest, ...grpc].flat()) close();
      await serving.stop();
    },
  };
}

/** Opens connections until each worker has its part: the instance says which one has got which. */
async function connectWorkers(
  transport: Transport,
  serving: PembaServing,
  question: Question,
): Promise<readonly (readonly LightConnection[])[]> {
  const children = await childrenOf(serving.pid);
  const workers = children.length === 0 ? [serving.pid] : children;
  const connections = workers.map((): LightConnection[] => []);
  const wanted = connectionsOfWorker[transport];
  while (connections.some(({ length }) => length < wanted)) {
    const connection = must((await connectLight(transport, serving, 1))[0], "one was opened");
    const own = must(connections[await answeringOf(workers, connection, question)], "it is one");
    if (own.length < wanted) own.push(connection);
    else connection.close();
  }
  return connections;
}

/** Questions that show by the time that a worker takes for them to which one a connection leads. */
const askedToFind = 20;

/** The place of the worker that answers on the connection. */
async function answeringOf(
  workers: readonly number[],
  { ask }: LightConnection,
  question: Question,
): Promise<number> {
  const before = await Promise.all(workers.map(threadsMicroseconds));
  for (let nth = 0; nth < askedToFind; nth++) await ask(question);
  const after = await Promise.all(workers.map(threadsMicroseconds));
  const spent = after.map((time, nth) => time - must(before[nth], "it was there before"));
  return spent.indexOf(Math.max(...spent));
}

async function compare(
  [one, several]: readonly [WorkersInstance, WorkersInstance],
  asked: AskedWorkers,
  { runs, seconds }: WorkersOptions,
): Promise<ComparedWorkers> {
  const { mix, transport } = asked;
  const load = { inFlight: callersOfWorker, count: warmUpRequests };
  for (const ask of [...one.ask[transport], ...several.ask[transport]]) {
    await warmUp(ask, mix.questions, load);
  }
  const measured: [WorkersSide[], WorkersSide[], WorkersSide[]] = [[], [], []];
  for (let run = 0; run < runs; run++) {
    await keepFamilyOn(ofClients, asked.postmaster);
    measured[0].push(await measureSide(one, asked, seconds));
    measured[1].push(await measureSide(several, asked, seconds));
    await keepFamilyOn(ofService, asked.postmaster);
    measured[2].push(await measureSide(several, asked, seconds));
  }
  const [before, after] = [medianSide(measured[0]), medianSide(measured[1])];
  const sharing = medianSide(measured[2]);
  return {
    questions: mix.name,
    transport,
    one: before,
    several: after,
    sharing,
    ratio: after.alone / before.alone,
    ratioSharing: sharing.alone / before.alone,
  };
}

interface AskedWorkers {
  readonly mix: QuestionClass;
  readonly transport: Transport;
  readonly postmaster: number;
}

/** Asks the workers one after the other, all together for so many seconds. */
async function measureSide(
  { workers, serving, ask }: WorkersInstance,
  { mix, transport, postmaster }: AskedWorkers,
  seconds: number,
): Promise<WorkersSide> {
  const spent = async (): Promise<CheckCosts> => ({
    service: await familySeconds(serving.pid),
    supervisor: workers === 1 ? 0 : await processorSeconds(serving.pid),
    postgres: await familySeconds(postmaster),
    client: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  });
  const load = { inFlight: callersOfWorker, seconds: seconds / workers };
  const turns: Measurement[] = [];
  let checks = 0;
  const before = await spent();
  for (const askWorker of ask[transport]) {
    const began = performance.now();
    const turn = await withOneAtWork(serving.pid, async () => {
      return await measure(askWorker, mix.questions, load);
    });
    checks += (turn.perSecond * (performance.now() - began)) / 1_000;
    turns.push(turn);
  }
  const after = await spent();
  const costOf = (part: keyof CheckCosts): number => ((after[part] - before[part]) / checks) * 1e6;
  const costs = {
    service: costOf("service"),
    supervisor: costOf("supervisor"),
    postgres: costOf("postgres"),
    client: costOf("client"),
  };
  return { ...medianOf(turns), workers, costs, alone: withoutClients(workers, costs) };
}

/** Does the work, and fails if more than one worker takes part in it. */
async function withOneAtWork<T>(pid: number, work: () => Promise<T>): Promise<T> {
  const workers = await childrenOf(pid);
  const before = await Promise.all(workers.map(processorSeconds));
  const result = await work();
  const after = await Promise.all(workers.map(processorSeconds));
  const spent = after.map((seconds, nth) => seconds - must(before[nth], "it was there before"));
  const all = spent.reduce((sum, seconds) => sum + seconds, 0);
  assert.ok(all - Math.max(0, ...spent) <= all / 10, "the worker answers by itself");
  return result;
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
  const headings = ["questions", "over", "workers", "p50 ms", "p99", "service us", "supervisor us"];
  const figures = ["postgres us", "client us", "without clients/s", "ratio"];
  return formatTable(
    [...headings, ...figures, `wanted: >= ${wantedRatio}`],
    results.flatMap(({ questions, transport, one, several, sharing, ratio, ratioSharing }) => {
      const row = (workers: string, side: WorkersSide, compared: number | undefined) => [
        questions,
        transport,
        workers,
        ...[side.p50, side.p99].map(figure),
        ...[side.costs.service, side.costs.supervisor].map(figure),
        ...[side.costs.postgres, side.costs.client].map(figure),
        figure(side.alone),
        compared === undefined ? "" : compared.toFixed(2),
      ];
      return [
        row("1", one, undefined),
        [...row(String(several.workers), several, ratio), ratio < wantedRatio ? "MISSED" : ""],
        row(`${sharing.workers}, with Postgres`, sharing, ratioSharing),
      ];
    }),
  );
}
