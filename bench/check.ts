import { must } from "../src/base/assert.ts";
import { compileSchemaText } from "../src/language/compile.ts";
import { checkThrough } from "../test/data/ask-store.ts";
import type { Dataset, Question, QuestionClass } from "../test/data/dataset.ts";
import { openWalkEvaluator } from "../test/data/walk-evaluator.ts";
import { type Ask, askEach, measure, type Measurement, medianOf } from "./measure.ts";
import { figure, formatTable } from "./report.ts";
import { type BenchServer, loadDatabase, type LoadedDatabase } from "./server.ts";
import { openStore } from "./store.ts";

export interface CheckBenchOptions {
  readonly runs: number;
  /** Of one run of one class by one of the two. */
  readonly seconds: number;
  readonly connections: readonly number[];
  /** The baseline reads head version and snapshot before each check. */
  readonly walkReadsHead: boolean;
  /** Leave the databases, for another run on the same server. */
  readonly keep: boolean;
}

/** One class of questions at one number of connections; the latter is also that in flight. */
export interface CheckResult {
  readonly dataset: string;
  readonly questions: string;
  readonly connections: number;
  readonly pemba: Measurement;
  readonly walk: Measurement;
  /** Of the throughputs. */
  readonly ratio: number;
  readonly statements: { readonly pemba: number; readonly walk: number };
}

/** One of the two that are compared. */
interface Contender {
  readonly ask: Ask;
  readonly close: () => Promise<void>;
}

type Name = "pemba" | "walk";

type Contenders = Readonly<Record<Name, Contender>>;

/** Measures Pemba and the walk from the application, in turn, on the same databases. */
export async function benchChecks(
  server: BenchServer,
  datasets: readonly Dataset[],
  options: CheckBenchOptions,
  print: (line: string) => void,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for (const dataset of datasets) {
    const database = await loadDatabase(server, dataset, print);
    try {
      results.push(...(await benchDataset(dataset, database, options, print)));
    } finally {
      if (!options.keep) await database.drop();
    }
  }
  print(`\n${checkTable(results)}`);
  return results;
}

async function benchDataset(
  dataset: Dataset,
  database: LoadedDatabase,
  options: CheckBenchOptions,
  print: (line: string) => void,
): Promise<readonly CheckResult[]> {
  const statements = await countStatements(dataset, database, options.walkReadsHead);
  const results: CheckResult[] = [];
  for (const connections of options.connections) {
    print(`${dataset.name}, ${connections} connection(s) ...`);
    const contenders = await openContenders(dataset, database, {
      connections,
      walkReadsHead: options.walkReadsHead,
    });
    try {
      for (const questions of dataset.classes) {
        const { pemba, walk } = await compare(contenders, questions, connections, options);
        results.push({
          dataset: dataset.name,
          questions: questions.name,
          connections,
          pemba,
          walk,
          ratio: pemba.perSecond / walk.perSecond,
          statements: must(statements.get(questions.name), "every class was counted"),
        });
      }
    } finally {
      await closeBoth(contenders);
    }
  }
  return results;
}

async function compare(
  contenders: Contenders,
  { questions }: QuestionClass,
  connections: number,
  { runs, seconds }: CheckBenchOptions,
): Promise<Readonly<Record<Name, Measurement>>> {
  const measured: Record<Name, Measurement[]> = { pemba: [], walk: [] };
  const load = { inFlight: connections, seconds };
  for (let run = 0; run < runs; run++) {
    // Alternating, so that other load of the machine hits both.
    const order: readonly Name[] = run % 2 === 0 ? ["pemba", "walk"] : ["walk", "pemba"];
    for (const name of order) {
      measured[name].push(await measure(contenders[name].ask, questions, load));
    }
  }
  return { pemba: medianOf(measured.pemba), walk: medianOf(measured.walk) };
}

/** In a pass of its own, since a driver that reports its statements is slower. */
async function countStatements(
  dataset: Dataset,
  database: LoadedDatabase,
  walkReadsHead: boolean,
): Promise<ReadonlyMap<string, { readonly pemba: number; readonly walk: number }>> {
  let sent = 0;
  const contenders = await openContenders(dataset, database, {
    connections: 1,
    walkReadsHead,
    onStatement: () => (sent += 1),
  });
  const perCheck = async (ask: Ask, questions: readonly Question[]): Promise<number> => {
    // The first check of a kind also reads what is cached from then on.
    await askEach(ask, questions.slice(0, 1));
    sent = 0;
    await askEach(ask, questions);
    return sent / questions.length;
  };
  const counts = new Map<string, { readonly pemba: number; readonly walk: number }>();
  try {
    for (const { name, questions } of dataset.classes) {
      const some = questions.slice(0, 50);
      counts.set(name, {
        pemba: await perCheck(contenders.pemba.ask, some),
        walk: await perCheck(contenders.walk.ask, some),
      });
    }
  } finally {
    await closeBoth(contenders);
  }
  return counts;
}

async function openContenders(
  { schema }: Dataset,
  { url, tenant }: LoadedDatabase,
  options: {
    readonly connections: number;
    readonly walkReadsHead: boolean;
    readonly onStatement?: (text: string) => void;
  },
): Promise<Contenders> {
  const store = await openStore({ url, ...options });
  const walk = openWalkEvaluator({
    url,
    tenant,
    schema: compileSchemaText(schema),
    connections: options.connections,
    readsHead: options.walkReadsHead,
    onStatement: options.onStatement,
  });
  return {
    pemba: { ask: (question) => checkThrough(store, question), close: () => store.close() },
    walk: {
      ask: ({ entity, permission, user }) =>
        walk.check({ entity, permission, subject: { type: "user", id: user, relation: "" } }),
      close: () => walk.close(),
    },
  };
}

async function closeBoth({ pemba, walk }: Contenders): Promise<void> {
  await Promise.all([pemba.close(), walk.close()]);
}

function checkTable(results: readonly CheckResult[]): string {
  const half = (rate: string) => [rate, "p50 ms", "p95", "p99", "stmts"];
  const headings = ["questions", "conns", ...half("pemba/s"), ...half("walk/s"), "ratio"];
  const cells = ({ perSecond, p50, p95, p99 }: Measurement, statements: number) => [
    figure(perSecond),
    figure(p50),
    figure(p95),
    figure(p99),
    figure(statements),
  ];
  return formatTable(
    headings,
    results.map((result) => [
      result.questions,
      String(result.connections),
      ...cells(result.pemba, result.statements.pemba),
      ...cells(result.walk, result.statements.walk),
      figure(result.ratio),
    ]),
  );
}
