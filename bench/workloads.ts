import { askGrpc, askRest, connectBoth } from "./clients.ts";
import type { Dataset, QuestionClass } from "./data/dataset.ts";
import { type Ask, askEach, measure, type Measurement, medianOf } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { serveDatabase } from "./serving.ts";
import { checkThrough, openStore } from "./store.ts";

export interface WorkloadsOptions {
  readonly runs: number;
  readonly seconds: number;
  readonly keep: boolean;
}

/** One check after the other, asked in three ways. */
export interface WorkloadResult {
  readonly dataset: string;
  readonly questions: string;
  readonly engine: Measurement;
  readonly rest: Measurement;
  readonly grpc: Measurement;
}

type Way = "engine" | "rest" | "grpc";

const ways = ["engine", "rest", "grpc"] as const;

/** Asks each data set's questions of the Postgres engine, and of a `pemba serve` over REST and gRPC. */
export async function benchWorkloads(
  server: BenchServer,
  datasets: readonly Dataset[],
  options: WorkloadsOptions,
  print: (line: string) => void,
): Promise<readonly WorkloadResult[]> {
  const results: WorkloadResult[] = [];
  for (const dataset of datasets) {
    const database = await loadDatabase(server, dataset, print);
    const store = await openStore({ url: database.url, connections: 1 });
    const serving = await serveDatabase(database.url);
    const clients = connectBoth(serving, 1);
    const asks = {
      engine: async (question) => await checkThrough(store, question),
      rest: askRest(clients.rest),
      grpc: askGrpc(clients.grpc),
    } satisfies Readonly<Record<Way, Ask>>;
    try {
      for (const questions of dataset.classes) {
        const measured = await measureWays(asks, questions, options);
        results.push({ dataset: dataset.name, questions: questions.name, ...measured });
      }
    } finally {
      await clients.close();
      await serving.stop();
      await store.close();
      if (!options.keep) await database.drop();
    }
  }
  print(`\n${workloadTable(results)}`);
  return results;
}

async function measureWays(
  asks: Readonly<Record<Way, Ask>>,
  { questions }: QuestionClass,
  { runs, seconds }: WorkloadsOptions,
): Promise<Readonly<Record<Way, Measurement>>> {
  const measured: Readonly<Record<Way, Measurement[]>> = { engine: [], rest: [], grpc: [] };
  for (const way of ways) await askEach(asks[way], questions.slice(0, 50));
  for (let run = 0; run < runs; run++) {
    for (const way of run % 2 === 0 ? ways : ways.toReversed()) {
      measured[way].push(await measure(asks[way], questions, { inFlight: 1, seconds }));
    }
  }
  return {
    engine: medianOf(measured.engine),
    rest: medianOf(measured.rest),
    grpc: medianOf(measured.grpc),
  };
}

function workloadTable(results: readonly WorkloadResult[]): string {
  return formatTable(
    ["data", "questions", "engine p50 ms", "p99", "rest p50", "p99", "grpc p50", "p99"],
    results.map(({ dataset, questions, engine, rest, grpc }) => [
      dataset,
      questions,
      ...[engine, rest, grpc].flatMap(({ p50, p99 }) => [figure(p50), figure(p99)]),
    ]),
  );
}
