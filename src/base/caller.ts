import { AsyncLocalStorage } from "node:async_hooks";

/** Who waits for work that is under way, and what they are to hear when it is given up. */
export class Caller {
  /** Aborted when they have left or given up: work of theirs that waits for its turn is dropped then. */
  readonly signal: AbortSignal;
  /** When a change of theirs is given up, by the clock of `performance`; undefined: never. */
  readonly endsAt: number | undefined;
  readonly #change: { mayBeMade: boolean };

  /** With `of`, that caller, with another signal and less time. */
  constructor(signal: AbortSignal, endsAt?: number, of?: Caller) {
    this.signal = signal;
    this.endsAt = endsAt;
    this.#change = of === undefined ? { mayBeMade: false } : of.#change;
  }

  /** May a change of theirs be made by now? It is so from when it is sent until it is known to be undone. */
  get mayHaveChanged(): boolean {
    return this.#change.mayBeMade;
  }

  /** A change is sent. */
  sendsChange(): void {
    this.#change.mayBeMade = true;
  }

  /** It was undone. */
  undoesChange(): void {
    this.#change.mayBeMade = false;
  }
}

const callers = new AsyncLocalStorage<Caller>();

/** Does work for a caller. */
export function forCaller<T>(caller: Caller, work: () => T): T {
  return callers.run(caller, work);
}

/** The caller whose work is under way. */
export function presentCaller(): Caller | undefined {
  return callers.getStore();
}
