import { performance } from "node:perf_hooks";

/** However busy the process is, no timer takes longer, in milliseconds. */
const wallMax = 8;

/** For how long the event loop of this process has had nothing to do, in milliseconds since its start. */
export function idleMs(): number {
  return performance.nodeTiming.idleTime;
}

/**
 * Ends a wait in which the process could do something better. So it counts only the time for which the event loop had
 * nothing to do: on a slow or busy machine a few answers take longer to write than a short timer, and what is waited
 * for may have come without having been read.
 */
export class IdleTimer {
  readonly #idleEnd: number;
  readonly #wallEnd: number;
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout;

  /** `onOver` is called after so many idle milliseconds, to the nearest one, or after eight of the clock. */
  constructor(ms: number, onOver: () => void) {
    this.#idleEnd = idleMs() + ms;
    this.#wallEnd = performance.now() + wallMax;
    this.#onOver = onOver;
    this.#timer = setTimeout(this.#look, ms);
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  readonly #look = (): void => {
    const leftMs = Math.min(this.#idleEnd - idleMs(), this.#wallEnd - performance.now());
    if (Math.round(leftMs) <= 0) this.#onOver();
    else this.#timer = setTimeout(this.#look, leftMs);
  };
}
