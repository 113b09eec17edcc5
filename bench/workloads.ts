import assert from "node:assert/strict";

import { must } from "../src/base/assert.ts";
import type { Store } from "../src/store/store.ts";
import type { Workload } from "../test/data/workload.ts";
import { connectBoth } from "./clients/both.ts";
import { type Interface, interfaces, type ReadClient } from "./clients/client.ts";
import { connectEngine } from "./clients/engine.ts";
import { askOf, type Measurement, summaryOf } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { serveDatabase } from "./serving.ts";
import { openStore } from "./store.ts";
import { pagesOf, readPageOf, writeLog } from "./workloads/change-log.ts";

export interface WorkloadsOptions {
  /** Of each class, through all interfaces together. */
  readonly seconds: number;
  readonly keep: boolean;
}

/** One question after the other, through three interfaces. */
export interface WorkloadResult {
  readonly dataset: string;
  readonly questions: string;
  /** How often it was asked through each of them. */
  readonly times: number;
  readonly engine: Measurement;
  readonly rest: Measurement;
  readonly grpc: Measurement;
}

/** How many tuples the data have, where the public benchmark says how many it has. */
export interface WorkloadSize {
  readonly dataset: string;
  readonly tuples: number;
  readonly published: number;
}

export interface WorkloadsResult {
  readonly workloads: readonly WorkloadResult[];
  readonly sizes: readonly WorkloadSize[];
}

/** What takes long is asked less often, but some times all the same. */
const timesMin = 5;
const timesMax = 300;

/** What is compiled, planned and cached at first is there once it was asked so often. */
const warmUpMin = 3;
const warmUpMax = 50;
const warmUpPart = 1 / 8;

/** As many of a class are asked of the engine before anything is measured. */
const questionsMax = 100;

const defaultDepth = 100;

/** Asks each workload's questions of the Postgres engine, and of a `pemba serve` over REST and gRPC. */
export async function benchWorkloads(
  server: BenchServer,
  workloads: readonly Workload[],
  options: WorkloadsOptions,
  print: (line: string) => void,
): Promise<WorkloadsResult> {
  const results: WorkloadResult[] = [];
  const sizes: WorkloadSize[] = [];
  for (const workload of workloads) {
    sizes.push(...sizeOf(workload));
    const database = await loadDatabase(server, workload, print);
    const watch = { readAheadMax: 100 };
    const store = await openStore({ url: database.url, connections: 1, watch });
    const serving = await serveDatabase(database.url);
    const { rest, grpc, close } = connectBoth(serving, 1);
    try {
      const clients = { engine: connectEngine(store), rest, grpc };
      for (const { name, questions, workOf } of await classesOf(workload, store)) {
        const works = worksOf(clients, workOf);
        // However few of them there is time for below, their answers are looked at.
        for (let nth = 0; nth < Math.min(questions, questionsMax); nth++) await works.engine(nth);
        const measured = await measureEach(works, options.seconds);
        results.push({ dataset: workload.name, questions: name, ...measured });
      }
    } finally {
      await close();
      await serving.stop();
      await store.close();
      if (!options.keep) await database.drop();
    }
  }
  print(`\n${workloadTable(results)}`);
  if (sizes.length > 0) print(`\n${sizeTable(sizes)}`);
  return { workloads: results, sizes };
}

/** Something to do, by its number. Fails when an answer is wrong. */
type Work = (nth: number) => Promise<void>;

type Works = Readonly<Record<Interface, Work>>;

interface AskedClass {
  readonly name: string;
  /** How many there are, by the number of the work. */
  readonly questions: number;
  readonly workOf: (client: ReadClient) => Work;
}

async function classesOf(
  { classes, lookups = [], changes = [], depth = defaultDepth }: Workload,
  store: Store,
): Promise<readonly AskedClass[]> {
  const found: AskedClass[] = [];
  for (const { name, questions } of classes) {
    const workOf = (client: ReadClient): Work =>
      askOf((question) => client.check(question, { depth }), questions);
    found.push({ name, questions: questions.length, workOf });
  }
  for (const { name, lookups: each } of lookups) {
    const workOf =
      (client: ReadClient): Work =>
      async (nth) => {
        const lookup = must(each[nth % each.length], "a class has some");
        const ids = await client.lookUp(lookup, { limit: lookup.limit, depth });
        assert.deepEqual(ids, lookup.found, `wrong: ${JSON.stringify({ ...lookup, found: [] })}`);
      };
    found.push({ name, questions: each.length, workOf });
  }
  for (const log of changes) {
    const tokens = await writeLog(store, log);
    const workOf = (client: ReadClient): Work => readPageOf(client, log, tokens);
    found.push({ name: log.name, questions: pagesOf(log), workOf });
  }
  return found;
}

function worksOf(
  clients: Readonly<Record<Interface, ReadClient>>,
  workOf: (client: ReadClient) => Work,
): Works {
  const { engine, rest, grpc } = clients;
  return { engine: workOf(engine), rest: workOf(rest), grpc: workOf(grpc) };
}

/** In turn, one at a time, so that other load of the machine hits all interfaces alike. */
async function measureEach(
  works: Works,
  seconds: number,
): Promise<Omit<WorkloadResult, "dataset" | "questions">> {
  const latencies: Readonly<Record<Interface, number[]>> = { engine: [], rest: [], grpc: [] };
  const askAll = async (nth: number): Promise<void> => {
    for (const each of nth % 2 === 0 ? interfaces : interfaces.toReversed()) {
      const asked = performance.now();
      await works[each](nth);
      latencies[each].push(performance.now() - asked);
    }
  };
  await repeat(askAll, { seconds: seconds * warmUpPart, min: warmUpMin, max: warmUpMax });
  for (const each of interfaces) latencies[each].length = 0;
  const times = await repeat(askAll, { seconds, min: timesMin, max: timesMax });
  const summary = (of: Interface): Measurement =>
    summaryOf(latencies[of], latencies[of].reduce((sum, each) => sum + each, 0) / 1000);
  return { times, engine: summary("engine"), rest: summary("rest"), grpc: summary("grpc") };
}

/** Gives how often that was. */
async function repeat(
  work: (nth: number) => Promise<void>,
  { seconds, min, max }: { readonly seconds: number; readonly min: number; readonly max: number },
): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let nth = 0;
  while (nth < min || (nth < max && performance.now() < end)) await work(nth++);
  return nth;
}

function sizeOf({ name, facts, published }: Workload): readonly WorkloadSize[] {
  if (published === undefined) return [];
  let tuples = 0;
  for (const { kind } of facts()) if (kind === "tuple") tuples++;
  return [{ dataset: name, tuples, published }];
}

function workloadTable(results: readonly WorkloadResult[]): string {
  return formatTable(
    ["data", "questions", "times", "engine p50 ms", "p99", "rest p50", "p99", "grpc p50", "p99"],
    results.map(({ dataset, questions, times, engine, rest, grpc }) => [
      dataset,
      questions,
      String(times),
      ...[engine, rest, grpc].flatMap(({ p50, p99 }) => [figure(p50), figure(p99)]),
    ]),
  );
}

function sizeTable(sizes: readonly WorkloadSize[]): string {
  return formatTable(
    ["data", "tuples", "published"],
    sizes.map(({ dataset, ...counts }) => [
      dataset,
      ...[counts.tuples, counts.published].map((count) => count.toLocaleString("en")),
    ]),
  );
}
