import { must } from "../../src/base/assert.ts";
import type { Asked } from "./asked.ts";
import type { Checkout, ServedCheckout, Spent } from "./checkout.ts";

export const sides = ["old", "new"] as const;

/** One of the two checkouts. */
export type Side = (typeof sides)[number];

export type BySide<T> = Readonly<Record<Side, T>>;

/** Requests that one connection sends before the other checkout has its turn. */
const requestsOfConnection = 25;

/** Part of the requests that a process gets before any is measured. */
const warmUpPart = 1 / 3;

/**
 * Measures pairs of processes, one of each checkout. The two of a pair get the same requests, block by
 * block, so that other load of the machine hits both alike. No two blocks of a class are the same, and
 * over the whole run both checkouts get the same blocks: their databases stay equal.
 *
 * @param seconds of processor time that a class takes in each process of the old checkout
 * @returns of each pair what a request of each class took, in microseconds
 */
export async function measurePairs(
  checkouts: BySide<Checkout>,
  classes: readonly Asked[],
  { pairs, seconds }: { readonly pairs: number; readonly seconds: number },
  print: (line: string) => void,
): Promise<readonly BySide<readonly Spent[]>[]> {
  const turns = new Turns();
  print("counts what is asked ...");
  const counts = await withProcesses(checkouts, async (served) => {
    const untilSpent = async (asked: Asked, enough: number): Promise<number> => {
      const { count } = await turns.take(served, asked, (_, { old }) => totalOf(old) >= enough);
      return count;
    };
    for (const asked of classes) await untilSpent(asked, seconds * warmUpPart);
    const found: number[] = [];
    for (const asked of classes) found.push(await untilSpent(asked, seconds));
    return found;
  });
  const measured: BySide<readonly Spent[]>[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    print(`pair ${pair + 1} of ${pairs} ...`);
    for (const side of sides) await checkouts[side].settle();
    measured.push(
      await withProcesses(checkouts, (served) => measurePair(turns, served, classes, counts)),
    );
  }
  return measured;
}

async function measurePair(
  turns: Turns,
  served: BySide<ServedCheckout>,
  classes: readonly Asked[],
  counts: readonly number[],
): Promise<BySide<readonly Spent[]>> {
  const countOf = (nth: number): number => must(counts[nth], "every class was counted");
  for (const [nth, asked] of classes.entries()) {
    await turns.take(served, asked, (count) => count >= countOf(nth) * warmUpPart);
  }
  const measured: Record<Side, Spent[]> = { old: [], new: [] };
  for (const [nth, asked] of classes.entries()) {
    const { count, spent } = await turns.take(served, asked, (asks) => asks >= countOf(nth));
    for (const side of sides) measured[side].push(scaled(spent[side], 1_000_000 / count));
  }
  return measured;
}

async function withProcesses<T>(
  checkouts: BySide<Checkout>,
  work: (served: BySide<ServedCheckout>) => Promise<T>,
): Promise<T> {
  const before = await checkouts.old.serve();
  try {
    const after = await checkouts.new.serve();
    try {
      return await work({ old: before, new: after });
    } finally {
      await after.stop();
    }
  } finally {
    await before.stop();
  }
}

/** Knows how far each class has come, over all processes. */
class Turns {
  readonly #next = new Map<Asked, number>();

  /** Gives both checkouts block after block until it is enough; what they took, in seconds. */
  async take(
    served: BySide<ServedCheckout>,
    asked: Asked,
    isEnough: (count: number, spent: BySide<Spent>) => boolean,
  ): Promise<{ readonly count: number; readonly spent: BySide<Spent> }> {
    const size = requestsOfConnection * asked.inFlight;
    const spent: Record<Side, Spent> = { old: nothing, new: nothing };
    let count = 0;
    for (; !isEnough(count, spent); count += size) {
      const from = this.#next.get(asked) ?? 0;
      this.#next.set(asked, from + size);
      // The first one may pay for background work that the other one caused.
      for (const side of (from / size) % 2 === 0 ? sides : sides.toReversed()) {
        spent[side] = sumOf(spent[side], await served[side].ask(asked, from, size));
      }
    }
    return { count, spent };
  }
}

const nothing: Spent = { service: 0, postgres: 0 };

const totalOf = ({ service, postgres }: Spent): number => service + postgres;

const sumOf = (one: Spent, other: Spent): Spent => ({
  service: one.service + other.service,
  postgres: one.postgres + other.postgres,
});

const scaled = ({ service, postgres }: Spent, by: number): Spent => ({
  service: service * by,
  postgres: postgres * by,
});
