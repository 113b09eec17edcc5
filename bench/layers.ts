import type { SnapToken } from "../src/base/tuple.ts";
import type { CheckLayers } from "../src/store/postgres/checks/check-layers.ts";
import type { Store } from "../src/store/store.ts";
import type { Dataset, QuestionClass } from "./data/dataset.ts";
import { type Ask, askEach, measure, type Measurement, medianOf } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { benchTenant, checkThrough, openStore } from "./store.ts";

export interface LayersOptions {
  readonly runs: number;
  readonly seconds: number;
  /** Checks in flight. */
  readonly callers: readonly number[];
  readonly keep: boolean;
}

export interface LayersResult {
  readonly questions: string;
  readonly callers: number;
  readonly without: Measurement;
  readonly with: Measurement;
  /** Of the throughputs. */
  readonly ratio: number;
}

/** As many connections as the service has by default, and half as many lanes. */
const connections = 20;
const batching: CheckLayers = { lanes: connections / 2 };
/** Enough for all questions of a class. */
const cache: CheckLayers = { ...batching, cache: { maxBytes: 10 << 20, maxEntries: 10_000 } };

/** Single checks of the present state, asked together when they wait against each for itself. */
export async function benchBatching(
  server: BenchServer,
  dataset: Dataset,
  options: LayersOptions,
  print: (line: string) => void,
): Promise<readonly LayersResult[]> {
  const given = { layers: [{}, batching], isPinned: false } as const;
  return await benchLayers({ server, dataset, options, print }, given);
}

/** Checks that name a state and come again, with their answers kept against without. */
export async function benchCache(
  server: BenchServer,
  dataset: Dataset,
  options: LayersOptions,
  print: (line: string) => void,
): Promise<readonly LayersResult[]> {
  const given = { layers: [batching, cache], isPinned: true } as const;
  return await benchLayers({ server, dataset, options, print }, given);
}

async function benchLayers(
  {
    server,
    dataset,
    options,
    print,
  }: {
    readonly server: BenchServer;
    readonly dataset: Dataset;
    readonly options: LayersOptions;
    readonly print: (line: string) => void;
  },
  given: { readonly layers: readonly [CheckLayers, CheckLayers]; readonly isPinned: boolean },
): Promise<readonly LayersResult[]> {
  const database = await loadDatabase(server, dataset, print);
  const open = async (layers: CheckLayers): Promise<Store> =>
    await openStore({ url: database.url, connections, layers });
  const stores = [await open(given.layers[0]), await open(given.layers[1])] as const;
  try {
    const token = given.isPinned ? await presentState(stores[0]) : undefined;
    const askOf =
      (store: Store): Ask =>
      async (question) =>
        await checkThrough(store, question, token);
    const asks = [askOf(stores[0]), askOf(stores[1])] as const;
    const results: LayersResult[] = [];
    for (const callers of options.callers) {
      for (const questions of dataset.classes) {
        results.push(await compare(asks, questions, callers, options));
      }
    }
    print(`\n${table(results)}`);
    return results;
  } finally {
    await Promise.all(stores.map((store) => store.close()));
    if (!options.keep) await database.drop();
  }
}

/** A write of nothing has a token, too. */
async function presentState(store: Store): Promise<SnapToken> {
  const nothing = { schemaVersion: undefined, tuples: [], attributes: [] };
  return await store.data.write(benchTenant, nothing);
}

async function compare(
  asks: readonly [Ask, Ask],
  { name, questions }: QuestionClass,
  callers: number,
  { runs, seconds }: LayersOptions,
): Promise<LayersResult> {
  // What comes for the second time is kept, so all come twice before.
  for (const ask of asks) for (let nth = 0; nth < 2; nth += 1) await askEach(ask, questions);
  const measured: readonly [Measurement[], Measurement[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    // Alternating, so that whatever else the machine does hits both.
    const order = run % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const side of order) {
      measured[side].push(await measure(asks[side], questions, { inFlight: callers, seconds }));
    }
  }
  const [without, with_] = [medianOf(measured[0]), medianOf(measured[1])];
  return {
    questions: name,
    callers,
    without,
    with: with_,
    ratio: with_.perSecond / without.perSecond,
  };
}

function table(results: readonly LayersResult[]): string {
  const half = (rate: string) => [rate, "p50 ms", "p95", "p99"];
  const cells = ({ perSecond, p50, p95, p99 }: Measurement) => [perSecond, p50, p95, p99];
  return formatTable(
    ["questions", "callers", ...half("without/s"), ...half("with/s"), "ratio"],
    results.map(({ questions, callers, without, with: with_, ratio }) => [
      questions,
      String(callers),
      ...[...cells(without), ...cells(with_), ratio].map(figure),
    ]),
  );
}
