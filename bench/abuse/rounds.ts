import { setTimeout as wait } from "node:timers/promises";

/** Counts what became of requests, by text. */
export type Count = (outcome: string) => void;

/** A client that is refused comes again after so long, as `Retry-After` says. */
const pauseMs = 1_000;

/**
 * Does so many pieces of work at once, and again a second after all have ended, until it is stopped.
 * The work says what became of it.
 */
export async function rounds(
  count: Count,
  signal: AbortSignal,
  { at, work }: { readonly at: number; readonly work: (nth: number) => Promise<string> },
): Promise<void> {
  while (!signal.aborted) {
    const one = async (nth: number): Promise<void> => {
      count(await work(nth).catch((error: unknown) => `failed: ${codeOf(error)}`));
    };
    const all = Promise.all(Array.from({ length: at }, async (_, nth) => await one(nth)));
    const stopped = new Promise((resolve) => signal.addEventListener("abort", resolve));
    await Promise.race([all, stopped]);
    await wait(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error ? String(error.code) : error.message;
}

/** Things that are opened when they are first used, and anew when they have ended. */
export class Reopened<T> {
  readonly #open: () => Promise<T>;
  readonly #isOpen: (opened: T) => boolean;
  readonly #opened = new Map<number, T>();
  /** Many may ask for one that is being opened. */
  readonly #opening = new Map<number, Promise<T>>();

  constructor(open: () => Promise<T>, isOpen: (opened: T) => boolean) {
    this.#open = open;
    this.#isOpen = isOpen;
  }

  async at(nth: number): Promise<T> {
    const before = this.#opened.get(nth);
    if (before !== undefined && this.#isOpen(before)) return before;
    const opening = this.#opening.get(nth) ?? this.#start(nth);
    return await opening;
  }

  async #start(nth: number): Promise<T> {
    const opening = this.#open();
    this.#opening.set(nth, opening);
    try {
      const opened = await opening;
      this.#opened.set(nth, opened);
      return opened;
    } finally {
      this.#opening.delete(nth);
    }
  }
}
