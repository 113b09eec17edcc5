import { setTimeout as wait } from "node:timers/promises";

import { status } from "@grpc/grpc-js";

import { must } from "../src/base/assert.ts";
import type { Question } from "./data/dataset.ts";
import type { Instances } from "./instances.ts";
import { type Ask, askOf, measureDuring, type Measurement, summaryOf, warmUp } from "./measure.ts";

/** What became of checks while one of several instances was killed. */
export interface KilledResult {
  readonly transport: "rest" | "grpc";
  readonly callers: number;
  readonly before: Measurement;
  /** From the moment on at which it was killed. */
  readonly after: Measurement;
  /** The longest that a check took since then, milliseconds. */
  readonly max: number;
  /** Checks whose connection to the killed instance broke, which were asked of another one. */
  readonly askedAgain: number;
  /** Wrong answers, and errors of an instance that lives, by their text. */
  readonly failures: Readonly<Record<string, number>>;
}

const warmUpRequests = 1_000;

/**
 * Kills the last instance under load. Clients ask in turn all that they take to be alive, as a balancer
 * has it: an instance to which a connection is refused or reset gets nothing any more, and what it was
 * asked then is asked of the next one.
 */
export async function measureKilled(
  instances: Instances,
  transport: "rest" | "grpc",
  questions: readonly Question[],
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
): Promise<KilledResult> {
  const asks = instances[transport];
  const victim = asks.length - 1;
  let killedAt: number | undefined;
  const balanced = balance(asks, (index) => index === victim && killedAt !== undefined);
  const ask = askOf(balanced.ask, questions);
  await warmUp(balanced.ask, questions, { inFlight: callers, count: warmUpRequests });
  const failures: Record<string, number> = {};
  const latencies: { readonly before: number[]; readonly after: number[] } = {
    before: [],
    after: [],
  };
  const work = async (nth: number): Promise<void> => {
    const began = performance.now();
    try {
      await ask(nth);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      failures[text] = (failures[text] ?? 0) + 1;
    }
    const ended = performance.now();
    const isAfter = killedAt !== undefined && ended > killedAt;
    latencies[isAfter ? "after" : "before"].push(ended - began);
  };
  const [, spent] = await measureDuring(work, callers, async () => {
    const began = performance.now();
    await wait(seconds * 1_000);
    const at = performance.now();
    killedAt = at;
    await instances.kill(victim);
    await wait(seconds * 1_000);
    return { before: (at - began) / 1_000, after: (performance.now() - at) / 1_000 };
  });
  return {
    transport,
    callers,
    before: summaryOf(latencies.before, spent.before),
    after: summaryOf(latencies.after, spent.after),
    max: latencies.after.reduce((most, each) => Math.max(most, each), 0),
    askedAgain: balanced.askedAgain(),
    failures,
  };
}

/** How many of them failed. */
export function failedChecks({ failures }: KilledResult): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0);
}

/** Asks in turn. A connection that breaks is the fault of who `isGone`, and else an error. */
function balance(
  asks: readonly Ask[],
  isGone: (index: number) => boolean,
): { readonly ask: Ask; readonly askedAgain: () => number } {
  const living = new Set(asks.keys());
  let turn = 0;
  let askedAgain = 0;
  const ask: Ask = async (question) => {
    const candidates = [...living];
    const index = must(candidates[turn++ % candidates.length], "one of them is alive");
    try {
      return await must(asks[index], "it is there")(question);
    } catch (error) {
      if (!isBroken(error) || !isGone(index)) throw error;
      living.delete(index);
      askedAgain += 1;
      return await ask(question);
    }
  };
  return { ask, askedAgain: () => askedAgain };
}

const brokenCodes: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_SOCKET",
  status.UNAVAILABLE,
]);

/** Whether no answer came since the connection was refused or reset. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && "code" in error && brokenCodes.has(error.code);
}
