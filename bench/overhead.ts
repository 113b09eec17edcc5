import { availableParallelism } from "node:os";

import type { Dataset, Question } from "../test/data/dataset.ts";
import { connectRest } from "./clients/rest.ts";
import { directQuestions, loadOver } from "./direct-checks.ts";
import {
  type Ask,
  measure,
  type Measurement,
  medianOf,
  medianOfNumbers,
  warmUp,
} from "./measure.ts";
import { processorSeconds } from "./processor-time.ts";
import { figure, formatTable } from "./report.ts";
import { keepOn, type Serving, serveMemory, startScript } from "./serving.ts";

export interface OverheadOptions {
  readonly runs: number;
  readonly seconds: number;
}

export interface OverheadSide extends Measurement {
  /** Of the server alone. */
  readonly processorMicroseconds: number;
}

export interface OverheadResult {
  readonly pemba: OverheadSide;
  readonly bare: OverheadSide;
  /** Of the throughputs, Pemba to a bare route: the median of the pairs of processes. */
  readonly ratio: number;
  /** Of the processor times of a request, which say the same when the client is what is slow. */
  readonly processorRatio: number;
  /** Of the throughputs, of each pair of processes. */
  readonly ratios: readonly number[];
  /** Had the servers, of which one works at a time, a processor of their own? */
  readonly isApart: boolean;
}

const overheadTarget = 0.6;

const inFlight = 64;
const warmUpRequests = 30_000;

/**
 * Measures direct checks over REST, answered from memory, in turn with a bare route of the framework
 * that looks at the same bodies and answers always the same.
 */
export async function benchOverhead(
  dataset: Dataset,
  options: OverheadOptions,
  print: (line: string) => void,
): Promise<OverheadResult> {
  const pairs: PairResult[] = [];
  for (let pair = 0; pair < pairsMeasured; pair++) pairs.push(await measurePair(dataset, options));
  const [ours, theirs] = sidesOf(pairs);
  const ofPairs = pairs.map((pair) => sidesOf([pair]));
  const ratios = ofPairs.map(([pemba, bare]) => pemba.perSecond / bare.perSecond);
  const result = {
    pemba: ours,
    bare: theirs,
    ratio: medianOfNumbers(ratios),
    processorRatio: medianOfNumbers(
      ofPairs.map(([pemba, bare]) => bare.processorMicroseconds / pemba.processorMicroseconds),
    ),
    ratios,
    isApart: pairs.every((pair) => pair.isApart),
  };
  print(`\n${overheadTables(result)}`);
  return result;
}

/** What two processes showed. */
interface PairResult {
  /** Pemba's runs and those of the bare route. */
  readonly runs: readonly [readonly OverheadSide[], readonly OverheadSide[]];
  readonly isApart: boolean;
}

/** Asked before this process keeps to one of them. */
const hasTwo = availableParallelism() > 1;

/** The same code is faster or slower by a tenth from one process to the next, and stays so. */
const pairsMeasured = 5;

async function measurePair(dataset: Dataset, options: OverheadOptions): Promise<PairResult> {
  const questions = directQuestions(dataset);
  // The servers begin where they stay: they make as many threads as they see processors.
  const isOnOne = hasTwo && (await keepOn(0, process.pid));
  const pemba = await serveMemory();
  const bare = await serveBare();
  const isApart = isOnOne && (await keepOn(1, process.pid));
  const clients = [connectRest(pemba.url, inFlight), connectRest(bare.url, inFlight)] as const;
  try {
    await loadOver(clients[0], dataset);
    const sides = [
      { serving: pemba, ask: clients[0].check },
      { serving: bare, ask: clients[1].check },
    ] as const;
    const runs = await inTurn(sides, questions, options);
    return { runs, isApart };
  } finally {
    for (const client of clients) await client.close();
    await pemba.stop();
    await bare.stop();
  }
}

function sidesOf(pairs: readonly PairResult[]): readonly [OverheadSide, OverheadSide] {
  return [
    medianSide(pairs.flatMap(({ runs }) => runs[0])),
    medianSide(pairs.flatMap(({ runs }) => runs[1])),
  ];
}

interface Side {
  readonly serving: Serving;
  readonly ask: Ask;
}

async function inTurn(
  sides: readonly [Side, Side],
  questions: readonly Question[],
  { runs, seconds }: OverheadOptions,
): Promise<PairResult["runs"]> {
  const measured: readonly [OverheadSide[], OverheadSide[]] = [[], []];
  for (const { ask } of sides) {
    await warmUp(ask, questions, { inFlight, count: warmUpRequests });
  }
  for (let run = 0; run < runs; run++) {
    const order = run % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const side of order)
      measured[side].push(await measureSide(sides[side], questions, seconds));
  }
  return measured;
}

async function measureSide(
  { serving, ask }: Side,
  questions: readonly Question[],
  seconds: number,
): Promise<OverheadSide> {
  const began = performance.now();
  const before = await processorSeconds(serving.pid);
  const measurement = await measure(ask, questions, { inFlight, seconds });
  const took = (await processorSeconds(serving.pid)) - before;
  const requests = (measurement.perSecond * (performance.now() - began)) / 1_000;
  return { ...measurement, processorMicroseconds: (took / requests) * 1e6 };
}

function medianSide(runs: readonly OverheadSide[]): OverheadSide {
  const processorMicroseconds = medianOfNumbers(runs.map((run) => run.processorMicroseconds));
  return { ...medianOf(runs), processorMicroseconds };
}

async function serveBare(): Promise<Serving> {
  const { said, ...child } = await startScript(new URL("overhead/bare-server.ts", import.meta.url));
  return { ...child, url: said };
}

function overheadTables({
  pemba,
  bare,
  ratio,
  processorRatio,
  ratios,
  isApart,
}: OverheadResult): string {
  const row = (name: string, side: OverheadSide): readonly string[] => [
    name,
    ...[side.perSecond, side.p50, side.p99, side.processorMicroseconds].map(figure),
  ];
  const compared = formatTable(
    ["direct check over REST", "requests/s", "p50 ms", "p99", "processor us"],
    [row("pemba, from memory", pemba), row("bare route", bare)],
  );
  const verdict = ratio < overheadTarget ? " MISSED" : "";
  return [
    compared,
    `ratio ${figure(ratio)} (wanted: >= ${overheadTarget}${verdict}), by processor time ${figure(processorRatio)}; by pairs of processes ${ratios.map(figure).join(", ")}; ${isApart ? "apart from the client" : "sharing processors with the client"}`,
  ].join("\n\n");
}
