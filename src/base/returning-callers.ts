import { Backoff } from "./backoff.ts";
import { IdleTimer } from "./idle-timer.ts";

/** More than so many are not gathered: while they are asked, this process would have nothing to do. */
const gatheredMax = 16;

/**
 * Callers that ask again as soon as they have their answer, as a client with a number of connections does. When
 * a batch ends, the next one waits for them, so that there is one batch for all of them and not two in turn. If they do
 * not return, later batches wait less and less often.
 */
export class ReturningCallers {
  readonly #waitMs: number;
  readonly #onOver: () => void;
  /** Whether callers have returned of late. */
  readonly #backoff: Backoff;
  #timer: IdleTimer | undefined;
  #wanted = 0;

  /** A wait takes `waitMs` at most, in milliseconds of an `IdleTimer`. `onOver` is called when it is over. */
  constructor(waitMs: number, onOver: () => void, backoff: Backoff = new Backoff()) {
    this.#waitMs = waitMs;
    this.#onOver = onOver;
    this.#backoff = backoff;
  }

  /** Whether the next batch waits for callers now. */
  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** A batch of so many has ended, and so many others wait. Whether its callers are waited for. */
  waitFor(ended: number, waiting: number): boolean {
    if (ended < 2 || ended + waiting > gatheredMax || this.isWaiting) return false;
    if (!this.#backoff.mayTry()) return false;
    this.#wanted = ended + waiting;
    this.#timer = new IdleTimer(this.#waitMs, () => {
      this.#backoff.failed();
      this.#end();
    });
    return true;
  }

  /** So many wait now. */
  entered(waiting: number): void {
    if (!this.isWaiting || waiting < this.#wanted) return;
    this.#timer?.cancel();
    this.#backoff.succeeded();
    this.#end();
  }

  #end(): void {
    this.#timer = undefined;
    this.#onOver();
  }
}
