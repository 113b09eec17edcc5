import type { Dataset, Question } from "../test/data/dataset.ts";
import { type ArrivalMeasurement, measureArrivals } from "./arrivals.ts";
import { connectBoth } from "./clients/both.ts";
import { type Transport, transports } from "./clients/client.ts";
import { type Ask, askOf, measure, warmUp } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { serveDatabase } from "./serving.ts";
import { usualInTurn } from "./usual-questions.ts";

export interface RateOptions {
  /** Of each measurement. */
  readonly seconds: number;
  readonly keep: boolean;
}

/** What a part of the capacity does to latencies. */
export interface RatePoint extends ArrivalMeasurement {
  readonly part: number;
}

export interface RateResult {
  readonly transport: Transport;
  readonly questions: string;
  /** Checks a second while as many as `callersAtCapacity` wait for answers at any time. */
  readonly capacity: number;
  readonly points: readonly RatePoint[];
}

/** Milliseconds. */
const latencyTargets = { p50: 12, p99: 30 } as const;

const parts = [0.3, 0.8] as const;
const callersAtCapacity = 64;

/** So many checks are asked each alone (half of the server's connections), and more of them together. */
const callersAlone = 10;
const warmUpRequests = 2_000;

/**
 * Finds how many checks a second one `pemba serve` on Postgres gets through, and then has them
 * arrive at parts of that rate, whether or not those before are answered.
 */
export async function benchRate(
  server: BenchServer,
  dataset: Dataset,
  options: RateOptions,
  print: (line: string) => void,
): Promise<readonly RateResult[]> {
  const database = await loadDatabase(server, dataset, print);
  const serving = await serveDatabase(database.url);
  const clients = connectBoth(serving, callersAtCapacity);
  try {
    const results: RateResult[] = [];
    for (const { name, questions } of mixesOf(dataset)) {
      for (const transport of transports) {
        const found = await findLatencies(clients[transport].check, questions, options);
        results.push({ transport, questions: name, ...found });
      }
    }
    print(`\n${rateTable(results)}`);
    return results;
  } finally {
    await clients.close();
    await serving.stop();
    if (!options.keep) await database.drop();
  }
}

async function findLatencies(
  ask: Ask,
  questions: readonly Question[],
  { seconds }: RateOptions,
): Promise<Pick<RateResult, "capacity" | "points">> {
  const inFlight = callersAtCapacity;
  // A statement is planned on each connection: neither of the two may be new to one later.
  for (const callers of [callersAlone, callersAtCapacity]) {
    await warmUp(ask, questions, { inFlight: callers, count: warmUpRequests });
  }
  const { perSecond: capacity } = await measure(ask, questions, { inFlight, seconds });
  const points: RatePoint[] = [];
  for (const part of parts) {
    const arrivals = { perSecond: part * capacity, seconds };
    points.push({ part, ...(await measureArrivals(askOf(ask, questions), arrivals)) });
  }
  return { capacity, points };
}

/** The cheapest class by itself, and the usual ones in turn. */
function mixesOf(dataset: Dataset): Dataset["classes"] {
  return [...dataset.classes.filter(({ name }) => name === "shallow"), usualInTurn(dataset)];
}

function rateTable(results: readonly RateResult[]): string {
  const headings = ["questions", "over", "capacity/s", "part", "offered/s", "done/s"];
  const latencies = ["p50 ms", "p95", "p99", "max", "generator p50"];
  return formatTable(
    [...headings, ...latencies, `<= ${latencyTargets.p50}/${latencyTargets.p99}`],
    results.flatMap(({ questions, transport, capacity, points }) =>
      points.map(({ part, offered, perSecond, p50, p95, p99, max, lateness }) => [
        questions,
        transport,
        figure(capacity),
        `${part * 100} %`,
        ...[offered, perSecond, p50, p95, p99, max, lateness.p50].map(figure),
        p50 <= latencyTargets.p50 && p99 <= latencyTargets.p99 ? "yes" : "MISSED",
      ]),
    ),
  );
}
