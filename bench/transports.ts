import { availableParallelism } from "node:os";

import type { Dataset, Question } from "../test/data/dataset.ts";
import { dice } from "../test/support/dice.ts";
import { type Transport, transports } from "./clients/client.ts";
import { askOn, connectLight } from "./clients/light.ts";
import { connectRest } from "./clients/rest.ts";
import { directQuestions, loadOver } from "./direct-checks.ts";
import { medianOfNumbers, warmUp } from "./measure.ts";
import { threadsMicroseconds } from "./processor-time.ts";
import { figure, formatTable } from "./report.ts";
import { keepOn, type PembaServing, serveMemory } from "./serving.ts";

export interface TransportsOptions {
  readonly callers: readonly number[];
  /** Processes that are measured one after the other. */
  readonly runs: number;
}

/** What a check over gRPC takes of the server, to the same one over REST. */
export interface ComparedTransports {
  readonly callers: number;
  /** Microseconds of processor time of the server. */
  readonly rest: number;
  readonly grpc: number;
  /** The median of the processes, and each of them. */
  readonly ratio: number;
  readonly ratios: readonly number[];
}

const wantedRatio = 1.15;

const blocksOfTransport = 60;
const checksOfBlock = 200;
const warmUpRequests = 10_000;

/** Asked before this process keeps to one of them. */
const hasTwo = availableParallelism() > 1;

/**
 * Direct checks, answered from memory, over gRPC and over REST, in blocks that are drawn at random, so that the
 * order helps neither. gRPC has one connection, REST one for each caller.
 */
export async function benchTransports(
  dataset: Dataset,
  { callers, runs }: TransportsOptions,
  print: (line: string) => void,
): Promise<readonly ComparedTransports[]> {
  const costs: (readonly ProcessCosts[])[] = [];
  for (let run = 0; run < runs; run++) costs.push(await measureProcess(dataset, callers, run));
  const results = callers.map((count, place): ComparedTransports => {
    const own = costs.flatMap((each) => each.slice(place, place + 1));
    const ratios = own.map(({ rest, grpc }) => grpc / rest);
    return {
      callers: count,
      rest: medianOfNumbers(own.map(({ rest }) => rest)),
      grpc: medianOfNumbers(own.map(({ grpc }) => grpc)),
      ratio: medianOfNumbers(ratios),
      ratios,
    };
  });
  print(`\n${transportsTable(results)}`);
  return results;
}

/** Microseconds of a check. */
type ProcessCosts = Readonly<Record<Transport, number>>;

/** One process, with each count of callers. */
async function measureProcess(
  dataset: Dataset,
  callers: readonly number[],
  run: number,
): Promise<readonly ProcessCosts[]> {
  // The server begins where it stays: it makes as many threads as it sees processors.
  if (hasTwo) await keepOn(0, process.pid);
  const serving = await serveMemory();
  if (hasTwo) await keepOn(1, process.pid);
  const loading = connectRest(serving.url, 1);
  try {
    await loadOver(loading, dataset);
    const questions = directQuestions(dataset);
    const costs: ProcessCosts[] = [];
    for (const [place, count] of callers.entries()) {
      const order = shuffled(run * callers.length + place);
      costs.push(await measureCallers(serving, count, { questions, order }));
    }
    return costs;
  } finally {
    await loading.close();
    await serving.stop();
  }
}

async function measureCallers(
  serving: PembaServing,
  count: number,
  {
    questions,
    order,
  }: { readonly questions: readonly Question[]; readonly order: readonly Transport[] },
): Promise<ProcessCosts> {
  // Opened for this count: a server closes connections that are not used.
  const rest = await connectLight("rest", serving, count);
  const grpc = await connectLight("grpc", serving, 1);
  const ask = { rest: askOn(rest, count), grpc: askOn(grpc, count) };
  const block = async (transport: Transport, checks: number): Promise<void> =>
    await warmUp(ask[transport], questions, { inFlight: count, count: checks });
  try {
    for (const transport of transports) await block(transport, warmUpRequests);
    return await measureBlocks(serving.pid, order, block);
  } finally {
    for (const { close } of [...rest, ...grpc]) close();
  }
}

async function measureBlocks(
  pid: number,
  order: readonly Transport[],
  block: (transport: Transport, checks: number) => Promise<void>,
): Promise<ProcessCosts> {
  const spent = { rest: 0, grpc: 0 };
  for (const transport of order) {
    const before = await threadsMicroseconds(pid);
    await block(transport, checksOfBlock);
    spent[transport] += (await threadsMicroseconds(pid)) - before;
  }
  const checks = blocksOfTransport * checksOfBlock;
  return { rest: spent.rest / checks, grpc: spent.grpc / checks };
}

/** As many blocks of each, in an order that follows from the number. */
function shuffled(number: number): readonly Transport[] {
  const order = transports.flatMap((each) => Array.from({ length: blocksOfTransport }, () => each));
  const { upTo } = dice(number);
  return order
    .map((transport) => ({ transport, at: upTo(2 ** 30) }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ transport }) => transport);
}

function transportsTable(results: readonly ComparedTransports[]): string {
  return formatTable(
    ["callers", "REST us", "gRPC us", "ratio", "of processes", `wanted: <= ${wantedRatio}`],
    results.map(({ callers, rest, grpc, ratio, ratios }) => [
      String(callers),
      figure(rest),
      figure(grpc),
      ratio.toFixed(3),
      ratios.map((each) => each.toFixed(2)).join(" "),
      ratio > wantedRatio ? "MISSED" : "",
    ]),
  );
}
