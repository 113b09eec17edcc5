import { performance } from "node:perf_hooks";

/** A span is over after this time of the clock in any case, in milliseconds. */
const wallMax = 4;

/**
 * Measures for how long the event loop has waited since the span was made. The work of this process does not count: while
 * it works, what is waited for may have come and not have been read. On a slow or busy machine a few answers take longer
 * to write than a short timer.
 */
export class IdleSpan {
  readonly #idleStart = performance.nodeTiming.idleTime;
  readonly #start = performance.now();

  /**
   * How much is left of so many idle milliseconds, or of four milliseconds of the clock if that is less. It is 0 or less
   * when they are over.
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
  #last: NodeJS.Immediate | undefined;

  constructor(ms: number, onOver: () => void, span: IdleSpan = new IdleSpan()) {
    this.#ms = ms;
    this.#onOver = onOver;
    this.#span = span;
    this.#timer = this.#wait();
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#last);
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(this.#look, Math.max(1, this.#span.leftOf(this.#ms)));
  }

  readonly #look = (): void => {
    // Timers run before what has come meanwhile is read.
    if (this.#span.isOver(this.#ms)) this.#last = setImmediate(this.#onOver);
    else this.#timer = this.#wait();
  };
}
