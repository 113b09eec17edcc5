import type { Dataset, Question } from "../test/data/dataset.ts";
import { connectBoth } from "./clients/both.ts";
import { type Transport, transports } from "./clients/client.ts";
import { readMeasures } from "./distributed/measures.ts";
import { type Ask, type Measurement, measure, medianOf, medianOfNumbers } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { type InstanceServing, serveInstance } from "./serving.ts";
import { usualInTurn } from "./usual-questions.ts";

export interface BurstOptions {
  /** Rounds; the medians are shown. */
  readonly runs: number;
  /** How long a burst is looked at from its beginning. */
  readonly seconds: number;
  /** A checkout whose service is asked in turn with that of this one. */
  readonly old: string | undefined;
  readonly keep: boolean;
}

/** Latencies in milliseconds. */
interface Burst extends Measurement {
  /** Of the first check of each caller, the one in the middle and the slowest. */
  readonly first: number;
  readonly firstMax: number;
}

/** A burst that finds few connections, beside the same one once all are there and warm. */
export interface BurstResult {
  readonly checkout: "new" | "old";
  readonly transport: Transport;
  readonly cold: Burst;
  readonly warm: Burst;
  /** Connections of the service when the burst begins, and at its end. */
  readonly before: number;
  readonly after: number;
}

const callersInBurst = 64;
const callersBefore = 2;

/** Connections that few callers do not need are closed meanwhile. */
const quietSeconds = 1;
const settings = {
  SERVICE_DATABASE_MAX_CONNECTION_IDLE_TIME: "400ms",
  // Answers that are kept would make the second burst another one.
  SERVICE_SERVICE_PERMISSION_CACHE_NUMBER_OF_COUNTERS: "1",
};

interface BurstSide {
  readonly checkout: BurstResult["checkout"];
  readonly serving: InstanceServing;
  readonly ask: Readonly<Record<Transport, Ask>>;
  readonly close: () => Promise<void>;
}

type Round = Pick<BurstResult, "cold" | "warm" | "before" | "after">;

/**
 * A service that few callers have kept warm, and then many callers at once: for them it opens
 * connections, each of which has everything to prepare.
 */
export async function benchBurst(
  server: BenchServer,
  dataset: Dataset,
  options: BurstOptions,
  print: (line: string) => void,
): Promise<readonly BurstResult[]> {
  const database = await loadDatabase(server, dataset, print);
  const sides = [await start(database.url, "new")];
  try {
    if (options.old !== undefined) sides.push(await start(database.url, "old", options.old));
    const { questions } = usualInTurn(withMorePermissions(dataset));
    const results: BurstResult[] = [];
    for (const transport of transports) {
      results.push(...(await measureSides(sides, { transport, questions }, options)));
    }
    print(`\n${burstTable(results)}`);
    return results;
  } finally {
    await Promise.all(sides.map(async ({ close }) => await close()));
    if (!options.keep) await database.drop();
  }
}

/** The usual questions, and others of the same entities and users: each permission has statements of its own. */
function withMorePermissions({ classes, ...dataset }: Dataset): Dataset {
  return {
    ...dataset,
    classes: classes.map(({ name, questions }) => ({
      name,
      questions: questions.flatMap((question) => [
        question,
        ...(answersOf[name] ?? []).map((other) => ({ ...question, ...other })),
      ]),
    })),
  };
}

/** What else is known of the entity and the user of a usual question, by its class. */
const answersOf: Readonly<
  Record<string, readonly Pick<Question, "permission" | "allowed">[] | undefined>
> = {
  shallow: [
    { permission: "owner", allowed: true },
    { permission: "edit", allowed: true },
    { permission: "banned", allowed: false },
  ],
  "nested denied": [
    { permission: "owner", allowed: false },
    { permission: "edit", allowed: false },
    { permission: "viewer", allowed: false },
  ],
  banned: [
    { permission: "banned", allowed: true },
    { permission: "edit", allowed: false },
  ],
};

async function start(
  url: string,
  checkout: BurstSide["checkout"],
  folder?: string,
): Promise<BurstSide> {
  const serving = await serveInstance(url, settings, folder);
  const clients = connectBoth(serving, callersInBurst);
  return {
    checkout,
    serving,
    ask: { rest: clients.rest.check, grpc: clients.grpc.check },
    close: async () => {
      await clients.close();
      await serving.stop();
    },
  };
}

interface Asked {
  readonly transport: Transport;
  readonly questions: readonly Question[];
}

async function measureSides(
  sides: readonly BurstSide[],
  asked: Asked,
  { runs, seconds }: BurstOptions,
): Promise<readonly BurstResult[]> {
  const rounds = sides.map((): Round[] => []);
  // In the first round, which does not count, the processes compile what they run.
  for (let run = 0; run <= runs; run++) {
    for (const [nth, side] of sides.entries()) {
      const round = await measureRound(side, asked, seconds);
      if (run > 0) rounds[nth]?.push(round);
    }
  }
  return sides.map(({ checkout }, nth) => {
    const own = rounds[nth] ?? [];
    return {
      checkout,
      transport: asked.transport,
      cold: medianBurst(own.map(({ cold }) => cold)),
      warm: medianBurst(own.map(({ warm }) => warm)),
      before: medianOfNumbers(own.map(({ before }) => before)),
      after: medianOfNumbers(own.map(({ after }) => after)),
    };
  });
}

async function measureRound(
  { ask: asks, serving }: BurstSide,
  { transport, questions }: Asked,
  seconds: number,
): Promise<Round> {
  const ask = asks[transport];
  await measure(ask, questions, { inFlight: callersBefore, seconds: quietSeconds });
  const before = await connectionsOf(serving);
  const cold = await measureBurst(ask, questions, seconds);
  const after = await connectionsOf(serving);
  // Until each connection has prepared everything.
  await measureBurst(ask, questions, seconds);
  const warm = await measureBurst(ask, questions, seconds);
  return { cold, warm, before, after };
}

async function measureBurst(
  ask: Ask,
  questions: readonly Question[],
  seconds: number,
): Promise<Burst> {
  const first: number[] = [];
  let begun = 0;
  const timed: Ask = async (question) => {
    if (begun >= callersInBurst) return await ask(question);
    begun++;
    const began = performance.now();
    const answer = await ask(question);
    first.push(performance.now() - began);
    return answer;
  };
  const measured = await measure(timed, questions, { inFlight: callersInBurst, seconds });
  return { ...measured, first: medianOfNumbers(first), firstMax: Math.max(...first) };
}

function medianBurst(bursts: readonly Burst[]): Burst {
  return {
    ...medianOf(bursts),
    first: medianOfNumbers(bursts.map(({ first }) => first)),
    firstMax: medianOfNumbers(bursts.map(({ firstMax }) => firstMax)),
  };
}

/** How many the service has for requests. */
async function connectionsOf({ metrics }: InstanceServing): Promise<number> {
  const { sumOf } = await readMeasures(metrics);
  return sumOf("db_client_connection_count");
}

function burstTable(results: readonly BurstResult[]): string {
  const latencies = ["p50 ms", "p95", "p99", "first p50", "first max"];
  return formatTable(
    ["checkout, transport, burst", "connections", "checks/s", ...latencies],
    results.flatMap(({ checkout, transport, before, after, cold, warm }) => [
      [`${checkout}, ${transport}, cold`, `${before} to ${after}`, ...figuresOf(cold)],
      [`${checkout}, ${transport}, warm`, "", ...figuresOf(warm)],
      ["  ratio", "", ...ratiosOf(cold, warm)],
    ]),
  );
}

function figuresOf(burst: Burst): readonly string[] {
  return shown(burst).map(figure);
}

function ratiosOf(cold: Burst, warm: Burst): readonly string[] {
  const others = shown(warm);
  return shown(cold).map((value, nth) => (value / (others[nth] ?? 1)).toFixed(2));
}

function shown({ perSecond, p50, p95, p99, first, firstMax }: Burst): readonly number[] {
  return [perSecond, p50, p95, p99, first, firstMax];
}
