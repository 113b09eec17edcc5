/** After so long the callers of a batch are not waited for any longer, in milliseconds. */
const waitMs = 2;

/** More than so many writes are not gathered: while they are made, this process would have nothing to do. */
const gatheredMax = 16;

/** The most batches whose callers are not waited for after some have not returned. */
const skipsMax = 64;

/**
 * Callers that write again as soon as they have their answer, as a client with a number of connections does. When
 * a batch ends, the next one waits for them, so that there is one batch for all of them and not two in turn. If they do
 * not return, later batches wait less and less often.
 */
export class ReturningCallers {
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout | undefined;
  #wanted = 0;
  /** How many batches are not waited for: from now on, and after the last wait in vain. */
  #skips = 0;
  #lastSkips = 0;

  /** `onOver` is called when a wait is over. */
  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /** Whether the next batch waits for callers now. */
  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** A batch of so many writes has ended while others wait. Whether its callers are waited for. */
  waitFor(writes: number, waiting: number): boolean {
    if (writes < 2 || writes + waiting > gatheredMax || this.isWaiting) return false;
    if (this.#skips > 0) {
      this.#skips -= 1;
      return false;
    }
    this.#wanted = writes + waiting;
    this.#timer = setTimeout(() => {
      this.#lastSkips = Math.min(skipsMax, 2 * this.#lastSkips + 1);
      this.#skips = this.#lastSkips;
      this.#end();
    }, waitMs);
    return true;
  }

  /** So many writes wait now. */
  entered(waiting: number): void {
    if (!this.isWaiting || waiting < this.#wanted) return;
    clearTimeout(this.#timer);
    this.#lastSkips = 0;
    this.#end();
  }

  #end(): void {
    this.#timer = undefined;
    this.#onOver();
  }
}
