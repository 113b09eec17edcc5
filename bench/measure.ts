import { must } from "../src/base/assert.ts";
import type { Question } from "../test/data/dataset.ts";

/** What one run showed; latencies in milliseconds. */
export interface Measurement {
  readonly perSecond: number;
  readonly p25: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export type Ask = (question: Question) => Promise<boolean>;

/** Questions, and who answers them. */
export interface Side {
  readonly ask: Ask;
  readonly questions: readonly Question[];
}

/**
 * Asks the questions round and round, `inFlight` at any time, for about the given time and at least
 * once each lane. Throws at the first wrong answer: a fast wrong answer is worth nothing.
 */
export async function measure(
  ask: Ask,
  questions: readonly Question[],
  load: { readonly inFlight: number; readonly seconds: number },
): Promise<Measurement> {
  return await measureWork(askOf(ask, questions), load);
}

/** Asks the questions round and round, as work for `measureWork`. */
export function askOf(ask: Ask, questions: readonly Question[]): (nth: number) => Promise<void> {
  return async (nth) =>
    await askRight(ask, must(questions[nth % questions.length], "a class has some"));
}

/** Does pieces of work by their number, as `measure` asks questions. */
export async function measureWork(
  work: (nth: number) => Promise<void>,
  { inFlight, seconds }: { readonly inFlight: number; readonly seconds: number },
): Promise<Measurement> {
  const end = performance.now() + seconds * 1000;
  return await measureUntil(work, inFlight, () => performance.now() >= end);
}

/** Asks so many questions, so that what the engine compiles and caches at first is there. */
export async function warmUp(
  ask: Ask,
  questions: readonly Question[],
  { inFlight, count }: { readonly inFlight: number; readonly count: number },
): Promise<void> {
  let asked = 0;
  const work = askOf(ask, questions);
  await measureUntil(
    async (nth) => {
      asked++;
      await work(nth);
    },
    inFlight,
    () => asked >= count,
  );
}

async function measureUntil(
  work: (nth: number) => Promise<void>,
  inFlight: number,
  isOver: () => boolean,
): Promise<Measurement> {
  const latencies: number[] = [];
  let next = 0;
  const started = performance.now();
  const lane = async () => {
    do {
      const began = performance.now();
      await work(next++);
      latencies.push(performance.now() - began);
    } while (!isOver());
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const seconds = (performance.now() - started) / 1000;
  return summaryOf(latencies, seconds);
}

/**
 * Asks two sides in turn, one question at a time, so that other load of the machine hits both
 * alike. The seconds are those of both together.
 */
export async function measureInTurn(
  sides: readonly [Side, Side],
  seconds: number,
): Promise<readonly [Measurement, Measurement]> {
  const latencies: readonly [number[], number[]] = [[], []];
  const askOne = async (side: 0 | 1, nth: number): Promise<void> => {
    const { ask, questions } = sides[side];
    const question = must(questions[nth % questions.length], "a class has questions");
    const asked = performance.now();
    await askRight(ask, question);
    latencies[side].push(performance.now() - asked);
  };
  // The first checks read and plan what later ones find ready.
  await askOne(0, 0);
  await askOne(1, 0);
  latencies[0].length = 0;
  latencies[1].length = 0;
  const end = performance.now() + seconds * 1000;
  for (let nth = 0; nth === 0 || performance.now() < end; nth++) {
    await askOne(0, nth);
    await askOne(1, nth);
  }
  const spent = (side: 0 | 1): number => latencies[side].reduce((sum, each) => sum + each, 0);
  return [summaryOf(latencies[0], spent(0) / 1000), summaryOf(latencies[1], spent(1) / 1000)];
}

/** The figures of latencies, of work that took so long in all. */
export function summaryOf(latencies: ArrayLike<number>, seconds: number): Measurement {
  const sorted = Float64Array.from(latencies).toSorted();
  return {
    perSecond: latencies.length / seconds,
    p25: percentile(sorted, 0.25),
    p50: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
  };
}

/** Asks each question once, one after another; throws at a wrong answer. */
export async function askEach(ask: Ask, questions: readonly Question[]): Promise<void> {
  for (const question of questions) await askRight(ask, question);
}

/** The median run by each figure on its own. */
export function medianOf(runs: readonly Measurement[]): Measurement {
  const of = (figure: (run: Measurement) => number): number => medianOfNumbers(runs.map(figure));
  return {
    perSecond: of((run) => run.perSecond),
    p25: of((run) => run.p25),
    p50: of((run) => run.p50),
    p95: of((run) => run.p95),
    p99: of((run) => run.p99),
  };
}

/** The middle one, or the upper of the two middle ones. */
export function medianOfNumbers(values: readonly number[]): number {
  return percentile(Float64Array.from(values).toSorted(), 0.5);
}

function percentile(sorted: Float64Array, part: number): number {
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * part));
  return must(sorted[index], "something was measured");
}

async function askRight(ask: Ask, question: Question): Promise<void> {
  const answer = await ask(question);
  if (answer === question.allowed) return;
  const { entity, permission, user } = question;
  const text = `${entity.type}:${entity.id}#${permission}@user:${user}`;
  throw new Error(`wrong answer: ${text} is ${answer}, not ${question.allowed}`);
}
