import { timerMs } from "./pause.ts";

/** What is called at a moment, unless it is cancelled before. */
export interface WheelTimer {
  readonly tick: number;
  readonly call: () => void;
}

/** How late a call may be, in milliseconds. */
const tickMs = 10;

/**
 * Timers that are nearly always cancelled, such as the limits of requests: to set and to cancel one costs
 * a tenth of a timer of the event loop, of which this has one for all. (G. Varghese, T. Lauck: Hashed and
 * hierarchical timing wheels.) A timer that is set keeps the process alive.
 */
export class TimerWheel {
  /** By the tick at whose end they are called. None of them is empty. */
  readonly #byTick = new Map<number, Set<WheelTimer>>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The tick at whose end the timer of the event loop fires: the least of all, or before. */
  #firesAt = Infinity;

  /** Calls back at a moment by the clock of `performance`, or at most 10 milliseconds later. */
  set(at: number, call: () => void): WheelTimer {
    const tick = Math.ceil(at / tickMs);
    const timer = { tick, call };
    const same = this.#byTick.get(tick);
    if (same === undefined) this.#byTick.set(tick, new Set([timer]));
    else same.add(timer);
    this.#count += 1;
    if (tick < this.#firesAt) this.#fireAt(tick);
    else if (this.#count === 1) this.#timer?.ref();
    return timer;
  }

  /** Takes a timer back. One that has been called or cancelled is left alone. */
  cancel(timer: WheelTimer): void {
    const same = this.#byTick.get(timer.tick);
    if (same === undefined || !same.delete(timer)) return;
    if (same.size === 0) this.#byTick.delete(timer.tick);
    this.#count -= 1;
    if (this.#count === 0) this.#timer?.unref();
  }

  #fireAt(tick: number): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    const ms = timerMs(Math.max(1, tick * tickMs - now));
    this.#firesAt = Math.min(tick, Math.ceil((now + ms) / tickMs));
    this.#timer = setTimeout(() => this.#fire(), ms);
  }

  #fire(): void {
    // The clock of the event loop may be a little ahead of the one of `performance`.
    const now = Math.max(Math.floor(performance.now() / tickMs), this.#firesAt);
    this.#timer = undefined;
    this.#firesAt = Infinity;
    const due = [...this.#byTick].flatMap(([tick, timers]) => (tick <= now ? [...timers] : []));
    for (const timer of due) {
      // One that was called may have cancelled another.
      if (this.#byTick.get(timer.tick)?.has(timer) !== true) continue;
      this.cancel(timer);
      timer.call();
    }
    let next = Infinity;
    for (const tick of this.#byTick.keys()) next = Math.min(next, tick);
    if (next < this.#firesAt) this.#fireAt(next);
  }
}
