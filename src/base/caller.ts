import { AsyncLocalStorage } from "node:async_hooks";

/** The caller of the work in progress, and what an error may say when the work is given up. */
export class Caller {
  /**
   * Aborted when the caller has left or given up. Work that still waits in a queue is then dropped.
   */
  readonly signal: AbortSignal;
  /** When a change is given up, by the clock of `performance`. Undefined: never. */
  readonly endsAt: number | undefined;
  /** When the caller stops waiting for an answer, by the clock of `performance`. Undefined: not known. */
  readonly waitsUntil: number | undefined;
  readonly #change: { mayBeMade: boolean };

  /** With `of`, the same caller with another signal and less time. */
  constructor(
    signal: AbortSignal,
    {
      endsAt,
      waitsUntil,
      of,
    }: {
      readonly endsAt?: number | undefined;
      readonly waitsUntil?: number | undefined;
      readonly of?: Caller | undefined;
    } = {},
  ) {
    this.signal = signal;
    this.endsAt = endsAt;
    this.waitsUntil = waitsUntil ?? of?.waitsUntil;
    this.#change = of === undefined ? { mayBeMade: false } : of.#change;
  }

  /** Whether a change may have been made: true from sending it until it is known to be undone. */
  get mayHaveChanged(): boolean {
    return this.#change.mayBeMade;
  }

  /** Records that a change is sent. */
  sendsChange(): void {
    this.#change.mayBeMade = true;
  }

  /** Records that the change was undone. */
  undoesChange(): void {
    this.#change.mayBeMade = false;
  }
}

const callers = new AsyncLocalStorage<Caller>();

/** Does work for a caller. */
export function forCaller<T>(caller: Caller, work: () => T): T {
  return callers.run(caller, work);
}

/** The caller of the work in progress. */
export function presentCaller(): Caller | undefined {
  return callers.getStore();
}
