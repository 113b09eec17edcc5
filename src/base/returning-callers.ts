/** More than so many are not gathered: while they are asked, this process would have nothing to do. */
const gatheredMax = 16;

/** The most batches whose callers are not waited for after some have not returned. */
const skipsMax = 64;

/** Whether callers of one kind have returned of late. */
export class Returns {
  /** How many batches are not waited for: from now on, and after the last wait in vain. */
  #skips = 0;
  #lastSkips = 0;

  /** Asked once for each batch. */
  areLikely(): boolean {
    if (this.#skips === 0) return true;
    this.#skips -= 1;
    return false;
  }

  came(): void {
    this.#lastSkips = 0;
  }

  stayedAway(): void {
    this.#lastSkips = Math.min(skipsMax, 2 * this.#lastSkips + 1);
    this.#skips = this.#lastSkips;
  }
}

/**
 * Callers that ask again as soon as they have their answer, as a client with a number of connections does. When
 * a batch ends, the next one waits for them, so that there is one batch for all of them and not two in turn. If they do
 * not return, later batches wait less and less often.
 */
export class ReturningCallers {
  readonly #waitMs: number;
  readonly #onOver: () => void;
  readonly #returns: Returns;
  #timer: NodeJS.Timeout | undefined;
  #wanted = 0;

  /** A wait takes `waitMs` at most, in milliseconds. `onOver` is called when it is over. */
  constructor(waitMs: number, onOver: () => void, returns: Returns = new Returns()) {
    this.#waitMs = waitMs;
    this.#onOver = onOver;
    this.#returns = returns;
  }

  /** Whether the next batch waits for callers now. */
  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** A batch of so many has ended, and so many others wait. Whether its callers are waited for. */
  waitFor(ended: number, waiting: number): boolean {
    if (ended < 2 || ended + waiting > gatheredMax || this.isWaiting) return false;
    if (!this.#returns.areLikely()) return false;
    this.#wanted = ended + waiting;
    this.#timer = setTimeout(() => {
      this.#returns.stayedAway();
      this.#end();
    }, this.#waitMs);
    return true;
  }

  /** So many wait now. */
  entered(waiting: number): void {
    if (!this.isWaiting || waiting < this.#wanted) return;
    clearTimeout(this.#timer);
    this.#returns.came();
    this.#end();
  }

  #end(): void {
    this.#timer = undefined;
    this.#onOver();
  }
}
