import { setTimeout as wait } from "node:timers/promises";

import type { Hostile, HostileQuestion, Wanted } from "../../test/data/hostile-schemas.ts";
import { medianOfNumbers } from "../measure.ts";
import { figure, formatTable } from "../report.ts";
import type { Outcome } from "./ask.ts";
import {
  type SteadyLatency,
  type SteadyMeasurement,
  startSteady,
  steadyMeasurement,
} from "./steady.ts";
import { loopDelayOf, type Served, type Target } from "./target.ts";

/** A question, and what became of it. */
export interface BoundsResult {
  readonly engine: string;
  readonly schema: string;
  readonly question: string;
  /** Status and name of the error, `right` or `WRONG`. */
  readonly outcome: string;
  readonly firstMs: number;
  /** The median of the next times; undefined when it was asked once. */
  readonly againMs: number | undefined;
  readonly wanted: Wanted;
  readonly isMissed: boolean;
}

/** What others felt of the questions about a schema. */
export interface OthersResult {
  readonly engine: string;
  readonly schema: string;
  /** Checks of another tenant. */
  readonly neighbour: SteadyMeasurement;
  readonly live: SteadyMeasurement;
  /** The longest time for which the loop of the process did one thing, unless it had to be ended. */
  readonly loopMs: number | undefined;
  readonly isMissed: boolean;
}

/** Most milliseconds. */
const wantedOfOthers = { neighbourP99: 100, liveMax: 50 } as const;

const neighbourEveryMs = 10;
const liveEveryMs = 10;

/** A question comes again and again for so long, unless it takes longer than is wanted. */
const againForMs = 500;

const alone = "(nothing is asked)";
const aloneMs = 2_000;

/** Others ask for so long before. */
const leadMs = 100;

/** Asks all about one schema while others have questions of their own. */
export async function askHostile(
  target: Target,
  engine: string,
  hostile: Hostile,
): Promise<{ readonly results: readonly BoundsResult[]; readonly others: OthersResult }> {
  const felt = new Felt();
  const results: BoundsResult[] = [];
  let served = await target.ready();
  await loopDelayOf(served);
  const { value: first } = await felt.during(target, async () => await target.write(hostile));
  const base = { engine, schema: hostile.name };
  results.push(resultOf({ ...base, question: "schema write" }, { outcomes: [first.schema] }));
  let { path } = first;
  const asked = first.schema.kind === "answered" ? hostile.questions : [];
  for (const question of asked) {
    const now = await target.ready();
    if (now !== served) ({ path } = await target.write(hostile));
    served = now;
    const { value: outcomes } = await felt.during(
      target,
      async () => await askAgainAndAgain(now, path, question),
    );
    const { name, wanted, isRight } = question;
    results.push(resultOf({ ...base, question: name }, { outcomes, wanted, isRight }));
  }
  return { results, others: felt.result(base) };
}

/** What others feel while nothing hostile is asked: what the machine itself does. */
export async function askNothing(target: Target, engine: string): Promise<OthersResult> {
  const felt = new Felt();
  await loopDelayOf(await target.ready());
  await felt.during(target, async () => await wait(aloneMs));
  // The machine is not what is measured.
  return { ...felt.result({ engine, schema: alone }), isMissed: false };
}

export function boundsTables(
  results: readonly BoundsResult[],
  others: readonly OthersResult[],
): string {
  const questions = formatTable(
    ["engine", "schema", "question", "outcome", "first ms", "wanted", "again ms", "wanted"],
    results.map((result) => [
      result.engine,
      result.schema,
      result.question,
      result.outcome,
      figure(result.firstMs),
      `<= ${result.wanted.first}`,
      result.againMs === undefined ? "" : figure(result.againMs),
      `${result.wanted.again === undefined ? "" : `<= ${result.wanted.again}`}${missed(result)}`,
    ]),
  );
  const { neighbourP99, liveMax } = wantedOfOthers;
  const figures = ({ p50, p99, max, failed }: SteadyMeasurement): readonly string[] => [
    ...[p50, p99, max].map(figure),
    String(failed),
  ];
  const meanwhile = "neighbour p50 ms,p99,max,failed,/livez p50 ms,p99,max,failed,loop max ms";
  const felt = formatTable(
    [
      "engine",
      "meanwhile",
      ...meanwhile.split(","),
      `wanted: p99 <= ${neighbourP99}, /livez <= ${liveMax}`,
    ],
    others.map((one) => [
      one.engine,
      one.schema,
      ...figures(one.neighbour),
      ...figures(one.live),
      one.loopMs === undefined ? "ended" : figure(one.loopMs),
      missed(one),
    ]),
  );
  return `${questions}\n\n${felt}`;
}

/** Printed as soon as it is known, since the tables come last. */
export function resultText(result: BoundsResult): string {
  const { question, outcome, firstMs } = result;
  return `${question}: ${outcome} after ${figure(firstMs)} ms${missed(result)}`;
}

/** As a table marks it. */
export function missed({ isMissed }: { readonly isMissed: boolean }): string {
  return isMissed ? " MISSED" : "";
}

/** Asks once, and then again for a while when that went well. */
async function askAgainAndAgain(
  { asker }: Served,
  path: string,
  { path: rest, body, wanted }: HostileQuestion,
): Promise<readonly Outcome[]> {
  const outcomes = [await asker.post(`${path}${rest}`, body)];
  const end = performance.now() + againForMs;
  while (performance.now() < end && outcomes.every((outcome) => isIn(outcome, wanted.first))) {
    outcomes.push(await asker.post(`${path}${rest}`, body));
  }
  return outcomes;
}

function isIn(outcome: Outcome, ms: number): boolean {
  return outcome.kind !== "unanswered" && outcome.ms <= ms;
}

function resultOf(
  named: Pick<BoundsResult, "engine" | "schema" | "question">,
  {
    outcomes,
    wanted = { first: 2_000 },
    isRight = () => true,
  }: {
    readonly outcomes: readonly Outcome[];
    readonly wanted?: Wanted;
    readonly isRight?: (answer: unknown) => boolean;
  },
): BoundsResult {
  const [first, ...next] = outcomes;
  if (first === undefined) throw new Error("it was asked");
  const againMs = next.length === 0 ? undefined : medianOfNumbers(next.map(({ ms }) => ms));
  const areGood = outcomes.every((outcome) => isIn(outcome, wanted.first) && isGood(outcome));
  const areRight = outcomes.every((one) => one.kind !== "answered" || isRight(one.body));
  const isInTime = wanted.again === undefined || (againMs ?? 0) <= wanted.again;
  return {
    ...named,
    outcome: areRight ? tellOutcome(first) : "WRONG",
    firstMs: first.ms,
    againMs,
    wanted,
    isMissed: !(areGood && areRight && isInTime),
  };
}

/** A refusal says what the client may do; a failure of the server is none. */
function isGood(outcome: Outcome): boolean {
  return outcome.kind === "answered" || (outcome.kind === "refused" && outcome.status < 500);
}

function tellOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "answered":
      return "right";
    case "refused":
      return `${outcome.status} ${outcome.why}`;
    case "unanswered":
      return outcome.why;
  }
}

/** What others feel during one thing after the other. */
class Felt {
  readonly #neighbour: SteadyLatency[] = [];
  readonly #live: SteadyLatency[] = [];
  readonly #loopMs: (number | undefined)[] = [];

  async during<T>(target: Target, work: () => Promise<T>): Promise<{ readonly value: T }> {
    const served = await target.ready();
    const { asker, neighbour } = served;
    const checks = startSteady(
      neighbourEveryMs,
      async (signal) => await asker.check(neighbour.path, neighbour.body, signal),
    );
    const lives = startSteady(liveEveryMs, async (signal) => await asker.get("/livez", signal));
    // The loop is watched from its next turn on.
    await wait(leadMs);
    const value = await work();
    const [checked, lived] = await Promise.all([checks.stop(), lives.stop()]);
    this.#neighbour.push(...checked);
    this.#live.push(...lived);
    const isSame = (await target.ready()) === served;
    this.#loopMs.push(isSame ? await loopDelayOf(served) : undefined);
    return { value };
  }

  result(named: Pick<OthersResult, "engine" | "schema">): OthersResult {
    const neighbour = steadyMeasurement(this.#neighbour);
    const live = steadyMeasurement(this.#live);
    const known = this.#loopMs.filter((ms) => ms !== undefined);
    const { neighbourP99, liveMax } = wantedOfOthers;
    return {
      ...named,
      neighbour,
      live,
      loopMs: known.length < this.#loopMs.length ? undefined : Math.max(...known),
      isMissed: neighbour.p99 > neighbourP99 || live.max > liveMax || neighbour.failed > 0,
    };
  }
}
