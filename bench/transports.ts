import { askGrpc, askRest, connectBoth } from "./clients.ts";
import type { Dataset, QuestionClass } from "./data/dataset.ts";
import { type Ask, askEach, measure, type Measurement, medianOf } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { serveDatabase } from "./serving.ts";

export interface TransportsOptions {
  readonly runs: number;
  readonly seconds: number;
  /** Checks in flight. */
  readonly callers: readonly number[];
  readonly keep: boolean;
}

export interface TransportsResult {
  readonly questions: string;
  readonly callers: number;
  readonly rest: Measurement;
  readonly grpc: Measurement;
  /** Of the throughputs: gRPC to REST. */
  readonly ratio: number;
}

/** Measures checks over REST and over gRPC in turn, against one `pemba serve` on Postgres. */
export async function benchTransports(
  server: BenchServer,
  dataset: Dataset,
  options: TransportsOptions,
  print: (line: string) => void,
): Promise<readonly TransportsResult[]> {
  const database = await loadDatabase(server, dataset, print);
  const serving = await serveDatabase(database.url);
  try {
    const results: TransportsResult[] = [];
    for (const callers of options.callers) {
      const clients = connectBoth(serving, callers);
      const asks = { rest: askRest(clients.rest), grpc: askGrpc(clients.grpc) };
      for (const questions of dataset.classes) {
        results.push(await compare(asks, questions, callers, options));
      }
      await clients.close();
    }
    print(`\n${table(results)}`);
    return results;
  } finally {
    await serving.stop();
    if (!options.keep) await database.drop();
  }
}

async function compare(
  asks: { readonly rest: Ask; readonly grpc: Ask },
  { name, questions }: QuestionClass,
  callers: number,
  { runs, seconds }: TransportsOptions,
): Promise<TransportsResult> {
  const measured: { readonly rest: Measurement[]; readonly grpc: Measurement[] } = {
    rest: [],
    grpc: [],
  };
  for (const ask of [asks.rest, asks.grpc]) await askEach(ask, questions.slice(0, 50));
  for (let run = 0; run < runs; run++) {
    const order = run % 2 === 0 ? (["rest", "grpc"] as const) : (["grpc", "rest"] as const);
    for (const transport of order) {
      const load = { inFlight: callers, seconds };
      measured[transport].push(await measure(asks[transport], questions, load));
    }
  }
  const rest = medianOf(measured.rest);
  const grpc = medianOf(measured.grpc);
  return { questions: name, callers, rest, grpc, ratio: grpc.perSecond / rest.perSecond };
}

function table(results: readonly TransportsResult[]): string {
  const half = (rate: string) => [rate, "p50 ms", "p95", "p99"];
  const cells = ({ perSecond, p50, p95, p99 }: Measurement) => [perSecond, p50, p95, p99];
  return formatTable(
    ["questions", "callers", ...half("rest/s"), ...half("grpc/s"), "grpc/rest"],
    results.map(({ questions, callers, rest, grpc, ratio }) => [
      questions,
      String(callers),
      ...[...cells(rest), ...cells(grpc), ratio].map(figure),
    ]),
  );
}
