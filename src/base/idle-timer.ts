import { performance } from "node:perf_hooks";

/** However busy the process is, a span of time is no longer than this, in milliseconds. */
const wallMax = 8;

/**
 * A span of time that begins when it is made, of which only that counts for which the event loop had nothing to do. It
 * measures waits that are worth while as long as the process has something better to do: on a slow or busy machine a
 * few answers take longer to write than a short timer, and what is waited for may have come without having been read.
 */
export class IdleSpan {
  readonly #idleStart = performance.nodeTiming.idleTime;
  readonly #start = performance.now();

  /**
   * How much is left of so many idle milliseconds, or of eight of the clock if that is less. It is 0 or less when they
   * are over.
   */
  leftOf(ms: number): number {
    const idle = performance.nodeTiming.idleTime - this.#idleStart;
    const passed = performance.now() - this.#start;
    return Math.min(ms - idle, wallMax - passed);
  }

  /** Whether they are over, to the nearest millisecond, which is as good as timers are. */
  isOver(ms: number): boolean {
    return Math.round(this.leftOf(ms)) <= 0;
  }
}

/** Calls `onOver` when so many milliseconds of an idle span are over. */
export class IdleTimer {
  readonly #ms: number;
  readonly #onOver: () => void;
  readonly #span: IdleSpan;
  #timer: NodeJS.Timeout;

  constructor(ms: number, onOver: () => void, span: IdleSpan = new IdleSpan()) {
    this.#ms = ms;
    this.#onOver = onOver;
    this.#span = span;
    this.#timer = this.#wait();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  readonly #look = (): void => {
    if (this.#span.isOver(this.#ms)) this.#onOver();
    else this.#timer = this.#wait();
  };

  #wait(): NodeJS.Timeout {
    return setTimeout(this.#look, Math.max(1, this.#span.leftOf(this.#ms)));
  }
}
