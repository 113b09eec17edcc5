import { AsyncLocalStorage } from "node:async_hooks";

/** The caller of the work in progress, and what an error may say when the work is given up. */
export class Caller {
  /** When it stops waiting for an answer, by the clock of `performance`. Undefined: not known. */
  readonly waitsUntil: number | undefined;
  readonly #ending: AbortController;
  #changeEndsAt: number | undefined;
  #mayHaveChanged = false;

  /** `ending` is aborted when the caller leaves, or by `giveUp`. */
  constructor(ending: AbortController, waitsUntil?: number) {
    this.#ending = ending;
    this.waitsUntil = waitsUntil;
  }

  /**
   * Aborted when the caller has left or given up. Work that still waits in a queue is then dropped.
   */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** When its change is given up, by the clock of `performance`. Undefined: never. */
  get changeEndsAt(): number | undefined {
    return this.#changeEndsAt;
  }

  /** Whether a change may have been made: true from sending it until it is known to be undone. */
  get mayHaveChanged(): boolean {
    return this.#mayHaveChanged;
  }

  /** Sets `changeEndsAt` for the change that begins now. */
  limitChange(endsAt: number): void {
    this.#changeEndsAt = endsAt;
  }

  /** Gives up its work. */
  giveUp(): void {
    this.#ending.abort();
  }

  /** Records that a change is sent. */
  sendsChange(): void {
    this.#mayHaveChanged = true;
  }

  /** Records that the change was undone. */
  undoesChange(): void {
    this.#mayHaveChanged = false;
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
