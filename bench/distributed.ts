import type { Dataset, Question, QuestionClass } from "../test/data/dataset.ts";
import { type Transport, transports } from "./clients/client.ts";
import type { ComparedInstances, DistributedSide } from "./distributed/compared.ts";
import { type Counted, type Instances, startInstances } from "./distributed/instances.ts";
import { distinctQuestions, drawSkewed } from "./distributed/skew.ts";
import { comparedTable } from "./distributed/tables.ts";
import { type Ask, askOf, type Measurement, measureWork, medianOf, warmUp } from "./measure.ts";
import { type BenchServer, loadDatabase } from "./server.ts";
import { presentStateOf } from "./store.ts";
import { usualInTurn } from "./usual-questions.ts";

export interface DistributedOptions {
  readonly runs: number;
  readonly seconds: number;
  /** Checks in flight, at all instances together. */
  readonly callers: readonly number[];
  /** Questions whose name does not hold it are left out of the comparison. */
  readonly only: string;
  readonly keep: boolean;
}

/** Few questions come often, and most of them seldom. */
const exponent = 0.8;

/** One instance keeps this part of all answers, so that three have room for all of them. */
const keptPart = 0.45;

const drawn = 40_000;
/** As many times as there are questions, so that caches hold what they will. */
const warmUpTimes = 3;

/**
 * Three instances that share checks, against three that do not: checks of one state, drawn with a skew
 * from more questions than one instance keeps answers of.
 */
export async function benchDistributed(
  server: BenchServer,
  dataset: Dataset,
  options: DistributedOptions,
  print: (line: string) => void,
): Promise<readonly ComparedInstances[]> {
  const database = await loadDatabase(server, dataset, print);
  const mixes = mixesOf(dataset).filter(({ name }) => name.includes(options.only));
  try {
    const snapToken = await presentStateOf(database.url);
    const start = async (isDistributed: boolean, { questions }: QuestionClass) =>
      await startInstances(database.url, {
        isDistributed,
        kept: keptOf(questions),
        snapToken,
        callers: Math.max(...options.callers),
      });
    const compared: ComparedInstances[] = [];
    for (const mix of mixes) {
      const sides = [await start(false, mix), await start(true, mix)] as const;
      compared.push(...(await compareSides(sides, mix, options)));
      await Promise.all(sides.map(async ({ stop }) => await stop()));
    }
    print(`\n${comparedTable(compared)}`);
    return compared;
  } finally {
    if (!options.keep) await database.drop();
  }
}

/** Cheap ones and costly ones: what is saved when an answer is found differs. */
function mixesOf(dataset: Dataset): readonly QuestionClass[] {
  const costly = dataset.classes.filter(({ name }) => name === "big subject denied");
  return [
    usualOf(dataset),
    ...costly.map((each) => ({ ...each, questions: distinctQuestions(each.questions) })),
  ];
}

function usualOf(dataset: Dataset): QuestionClass {
  const usual = usualInTurn(dataset);
  return { ...usual, questions: distinctQuestions(usual.questions) };
}

function keptOf(population: readonly Question[]): number {
  return Math.ceil(population.length * keptPart);
}

function drawOf({ questions }: QuestionClass): readonly Question[] {
  return drawSkewed(questions, { exponent, count: drawn });
}

/** Three instances, and how many of the drawn questions they have been asked. */
interface Side {
  readonly instances: Instances;
  readonly draws: readonly Question[];
  asked: number;
}

async function compareSides(
  instances: readonly [Instances, Instances],
  mix: QuestionClass,
  { callers: counts, ...options }: DistributedOptions,
): Promise<readonly ComparedInstances[]> {
  const draws = drawOf(mix);
  const asked = warmUpTimes * mix.questions.length;
  for (const { grpc } of instances) {
    await warmUp(inTurn(grpc), draws, { inFlight: Math.max(...counts), count: asked });
  }
  const sideOf = (index: 0 | 1): Side => ({ instances: instances[index], draws, asked });
  const sides = [sideOf(0), sideOf(1)] as const;
  const results: ComparedInstances[] = [];
  for (const callers of counts) {
    for (const transport of transports) {
      const measured = await compare(sides, { transport, callers }, options);
      results.push({
        questions: mix.name,
        population: mix.questions.length,
        kept: keptOf(mix.questions),
        transport,
        callers,
        ...measured,
      });
    }
  }
  return results;
}

async function compare(
  sides: readonly [Side, Side],
  given: { readonly transport: Transport; readonly callers: number },
  { runs, seconds }: Pick<DistributedOptions, "runs" | "seconds">,
): Promise<Pick<ComparedInstances, "alone" | "shared" | "ratio">> {
  const measured: readonly [SideRun[], SideRun[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    // Alternating, so that other load of the machine hits both.
    const order = run % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const side of order) {
      measured[side].push(await measureSide(sides[side], { ...given, seconds }));
    }
  }
  const [alone, shared] = [together(measured[0]), together(measured[1])];
  return { alone, shared, ratio: shared.perSecond / alone.perSecond };
}

/** What one run showed, and what the instances counted in it. */
interface SideRun {
  readonly measurement: Measurement;
  readonly checks: number;
  readonly counted: Counted;
}

async function measureSide(
  side: Side,
  {
    transport,
    callers,
    seconds,
  }: {
    readonly transport: Transport;
    readonly callers: number;
    readonly seconds: number;
  },
): Promise<SideRun> {
  const { instances, draws, asked } = side;
  const ask = askOf(inTurn(instances[transport]), draws);
  const before = await instances.counted();
  const work = async (): Promise<void> => await ask(side.asked++);
  const measurement = await measureWork(work, { inFlight: callers, seconds });
  const after = await instances.counted();
  return { measurement, checks: side.asked - asked, counted: difference(after, before) };
}

function inTurn(asks: readonly Ask[]): Ask {
  let turn = 0;
  return async (question) => {
    const ask = asks[turn++ % asks.length];
    if (ask === undefined) throw new Error("there is no instance");
    return await ask(question);
  };
}

function difference(after: Counted, before: Counted): Counted {
  return {
    hits: after.hits - before.hits,
    misses: after.misses - before.misses,
    answered: after.answered - before.answered,
    failed: after.failed - before.failed,
    late: after.late - before.late,
    statements: after.statements - before.statements,
    processorSeconds: after.processorSeconds - before.processorSeconds,
  };
}

/** Medians of what was timed; what was counted is of all runs together. */
function together(runs: readonly SideRun[]): DistributedSide {
  const total = (of: (run: SideRun) => number): number =>
    runs.reduce((sum, run) => sum + of(run), 0);
  const counted = (name: keyof Counted): number => total((run) => run.counted[name]);
  const checks = total((run) => run.checks);
  const unanswered = counted("failed") + counted("late");
  const sent = counted("answered") + unanswered;
  return {
    ...medianOf(runs.map(({ measurement }) => measurement)),
    hitRate: counted("hits") / (counted("hits") + counted("misses")),
    sent: sent / checks,
    unanswered: sent === 0 ? 0 : unanswered / sent,
    statements: counted("statements") / checks,
    processorMicroseconds: (counted("processorSeconds") / checks) * 1e6,
  };
}
