import type { SnapToken } from "../src/base/tuple.ts";
import type { CheckLayers } from "../src/store/postgres/checks/check-layers.ts";
import type { Store } from "../src/store/store.ts";
import { askGrpc, askRest, type Clients, connectBoth } from "./clients.ts";
import type { Dataset, QuestionClass } from "./data/dataset.ts";
import { type Ask, askEach, measure, type Measurement, medianOf } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase, type LoadedDatabase } from "./server.ts";
import { startScript } from "./serving.ts";
import { checkThrough, openStore, presentState } from "./store.ts";
import { type Way, wayTitles } from "./ways/way.ts";

export interface LayersOptions {
  readonly runs: number;
  readonly seconds: number;
  /** Checks in flight. */
  readonly callers: readonly number[];
  readonly keep: boolean;
}

export interface LayersResult {
  readonly way: Way;
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

const layeredServer = new URL("layered-server.ts", import.meta.url);

/** What the transports are asked. */
const overTransports = ["nested allowed", "nested denied"];

interface LayersBench {
  readonly server: BenchServer;
  readonly dataset: Dataset;
  readonly options: LayersOptions;
  readonly print: (line: string) => void;
}

/** Who answers without the layers, and who with them. */
type Pair<T> = readonly [T, T];

/** What is asked, and how it can be asked with so many callers. */
interface Contest {
  readonly way: Way;
  readonly classes: readonly QuestionClass[];
  readonly connect: (callers: number) => {
    readonly asks: Pair<Ask>;
    readonly close: () => Promise<void>;
  };
}

/**
 * Single checks of the present state, asked together when they wait against each for itself: of the
 * engine itself, and of a process over each transport.
 */
export async function benchBatching(bench: LayersBench): Promise<readonly LayersResult[]> {
  const layers = [{}, batching] as const;
  return await onDatabase(bench, async ({ url }) => {
    const ofEngine = await withStores(url, layers, async (stores) => {
      return await measureContest(bench, engineContest(bench.dataset, stores));
    });
    const servers = await startBoth(url, layers);
    try {
      const results = [...ofEngine];
      for (const way of ["rest", "grpc"] as const) {
        results.push(
          ...(await measureContest(bench, transportContest(bench.dataset, servers, way))),
        );
      }
      return results;
    } finally {
      for (const { stop } of servers) await stop();
    }
  });
}

/** Checks that name a state and come again, with their answers kept against without. */
export async function benchCache(bench: LayersBench): Promise<readonly LayersResult[]> {
  return await onDatabase(bench, async ({ url }) => {
    return await withStores(url, [batching, cache], async (stores) => {
      const contest = engineContest(bench.dataset, stores, await presentState(stores[0]));
      return await measureContest(bench, contest);
    });
  });
}

async function onDatabase(
  { server, dataset, options, print }: LayersBench,
  work: (database: LoadedDatabase) => Promise<readonly LayersResult[]>,
): Promise<readonly LayersResult[]> {
  const database = await loadDatabase(server, dataset, print);
  try {
    const results = await work(database);
    print(`\n${table(results)}`);
    return results;
  } finally {
    if (!options.keep) await database.drop();
  }
}

async function withStores<T>(
  url: string,
  [without, with_]: Pair<CheckLayers>,
  work: (stores: Pair<Store>) => Promise<T>,
): Promise<T> {
  const stores = [
    await openStore({ url, connections, layers: without }),
    await openStore({ url, connections, layers: with_ }),
  ] as const;
  try {
    return await work(stores);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

function engineContest(dataset: Dataset, stores: Pair<Store>, snapToken?: SnapToken): Contest {
  const pinned = snapToken === undefined ? {} : { snapToken };
  const askOf =
    (store: Store): Ask =>
    async (question) =>
      await checkThrough(store, question, pinned);
  const asks = [askOf(stores[0]), askOf(stores[1])] as const;
  const connect = () => ({ asks, close: async () => {} });
  return { way: "engine", classes: dataset.classes, connect };
}

function transportContest(
  { classes }: Dataset,
  servers: Pair<LayeredServer>,
  way: "rest" | "grpc",
): Contest {
  const askOf = ({ rest, grpc }: Clients): Ask => (way === "rest" ? askRest(rest) : askGrpc(grpc));
  return {
    way,
    classes: classes.filter(({ name }) => overTransports.includes(name)),
    connect: (callers) => {
      const clients = [connectBoth(servers[0], callers), connectBoth(servers[1], callers)] as const;
      return {
        asks: [askOf(clients[0]), askOf(clients[1])],
        close: async () => {
          for (const { close } of clients) await close();
        },
      };
    },
  };
}

/** A server whose layers can be chosen, in a process of its own. */
interface LayeredServer {
  readonly url: string;
  readonly grpc: string;
  readonly stop: () => Promise<void>;
}

async function startBoth(
  url: string,
  [without, with_]: Pair<CheckLayers>,
): Promise<Pair<LayeredServer>> {
  const start = async (layers: CheckLayers): Promise<LayeredServer> => {
    const words = [url, String(connections), JSON.stringify(layers)];
    const { said, stop } = await startScript(layeredServer, words);
    const addresses: Omit<LayeredServer, "stop"> = JSON.parse(said);
    return { ...addresses, stop };
  };
  return [await start(without), await start(with_)];
}

async function measureContest(
  { options }: LayersBench,
  { way, classes, connect }: Contest,
): Promise<readonly LayersResult[]> {
  const results: LayersResult[] = [];
  for (const callers of options.callers) {
    const { asks, close } = connect(callers);
    try {
      for (const questions of classes) {
        results.push({ way, ...(await compare(asks, questions, callers, options)) });
      }
    } finally {
      await close();
    }
  }
  return results;
}

async function compare(
  asks: Pair<Ask>,
  { name, questions }: QuestionClass,
  callers: number,
  { runs, seconds }: LayersOptions,
): Promise<Omit<LayersResult, "way">> {
  // What comes for the second time is kept, so all come twice before.
  for (const ask of asks) for (let nth = 0; nth < 2; nth += 1) await askEach(ask, questions);
  const measured: Pair<Measurement[]> = [[], []];
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
    ["asked", "questions", "callers", ...half("without/s"), ...half("with/s"), "ratio"],
    results.map(({ way, questions, callers, without, with: with_, ratio }) => [
      wayTitles[way],
      questions,
      String(callers),
      ...[...cells(without), ...cells(with_), ratio].map(figure),
    ]),
  );
}
