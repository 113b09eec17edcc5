import { must } from "../src/base/assert.ts";
import type { Question } from "./data/dataset.ts";

/** What one run showed; latencies in milliseconds. */
export interface Measurement {
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export type Ask = (question: Question) => Promise<boolean>;

/**
 * Asks the questions round and round, `inFlight` at any time, for about the given time and at least
 * once each lane. Throws at the first wrong answer: a fast wrong answer is worth nothing.
 */
export async function measure(
  ask: Ask,
  questions: readonly Question[],
  load: { readonly inFlight: number; readonly seconds: number },
): Promise<Measurement> {
  const latencies: number[] = [];
  let next = 0;
  const started = performance.now();
  const end = started + load.seconds * 1000;
  const lane = async () => {
    do {
      const question = must(questions[next++ % questions.length], "a class has questions");
      const asked = performance.now();
      await askRight(ask, question);
      latencies.push(performance.now() - asked);
    } while (performance.now() < end);
  };
  await Promise.all(Array.from({ length: load.inFlight }, lane));
  const seconds = (performance.now() - started) / 1000;
  const sorted = Float64Array.from(latencies).toSorted();
  return {
    perSecond: latencies.length / seconds,
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
  const of = (figure: (run: Measurement) => number): number => median(runs.map(figure));
  return {
    perSecond: of((run) => run.perSecond),
    p50: of((run) => run.p50),
    p95: of((run) => run.p95),
    p99: of((run) => run.p99),
  };
}

/** The middle one, or the upper of the two middle ones. */
function median(values: readonly number[]): number {
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
