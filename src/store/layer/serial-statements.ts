import { LRUCache } from "lru-cache";

import { Backoff } from "../../base/backoff.ts";
import { IdleSpan, IdleTimer } from "../../base/idle-timer.ts";
import { ReturningCallers } from "../../base/returning-callers.ts";
import type { CheckBatch } from "./check-batch.ts";

/** A statement that is waited for longer lets others run beside it, in milliseconds of an `IdleSpan`. */
const quickMs = 1;

/** So long the callers of a statement are waited for. */
const returnMs = 1;

/** Types of checks of which it is known how their last statements went. */
const typesMax = 1_000;

/** How the last statements for checks of the same types went, of any state. */
interface LastStatements {
  /** Whether the last one was hardly waited for. */
  isQuick: boolean;
  /** Whether its callers have returned of late. */
  readonly backoff: Backoff;
}

/** The statements of one key, while one keeps others back or its callers are waited for. */
interface Series {
  /** Batches that wait for its end. */
  readonly waiting: Set<CheckBatch>;
  readonly returning: ReturningCallers;
  /** Begins with the statement; undefined when it has ended. */
  running: IdleSpan | undefined;
  /** Ends the wait for the statement. */
  late: IdleTimer | undefined;
}

/**
 * Has local checks of one key go in one statement after the other, as long as these are quick: starting a
 * statement costs more than a few probes, so two at the same time cost twice as much as one for all of their checks.
 */
export class SerialStatements {
  /** By the key of their batches. */
  readonly #series = new Map<string, Series>();
  readonly #lastOf = new LRUCache<string, LastStatements>({ max: typesMax });
  readonly #onFree: (batches: Iterable<CheckBatch>) => void;

  /** `onFree` is called with batches that waited, when they may go. */
  constructor(onFree: (batches: Iterable<CheckBatch>) => void) {
    this.#onFree = onFree;
  }

  /** Whether the batch has to wait. It goes to `onFree` later. */
  hold(batch: CheckBatch): boolean {
    const { key } = batch;
    const series = this.#series.get(key);
    if (series === undefined) return false;
    series.waiting.add(batch);
    // A statement that nothing waits for needs no timer: a timer costs a round of the event loop.
    if (series.running !== undefined && series.late === undefined) {
      series.late = new IdleTimer(quickMs, () => this.#release(key, series), series.running);
    }
    return true;
  }

  /** A check has joined a batch of the key. */
  joined(key: string): void {
    const series = this.#series.get(key);
    if (series?.returning.isWaiting === true) series.returning.entered(checksOf(series));
  }

  /**
   * Called when a statement for so many checks of the key is sent. `typesKey`, of bounded length, is the same for all
   * states. Returns what is called when it has ended, with whether there was a statement at all.
   */
  begin(key: string, typesKey: string, checks: number): (isSent: boolean) => void {
    const last = this.#lastStatementsOf(typesKey);
    const running = new IdleSpan();
    const mayHold = last.isQuick && !this.#series.has(key);
    const series = mayHold ? this.#open(key, last, running) : undefined;
    return (isSent) => {
      if (isSent) last.isQuick = running.leftOf(quickMs) > 0;
      if (series === undefined || this.#series.get(key) !== series) return;
      series.late?.cancel();
      series.running = undefined;
      if (!isSent || !series.returning.waitFor(checks, checksOf(series)))
        this.#release(key, series);
    };
  }

  #lastStatementsOf(key: string): LastStatements {
    const known = this.#lastOf.get(key);
    if (known !== undefined) return known;
    const last = { isQuick: true, backoff: new Backoff() };
    this.#lastOf.set(key, last);
    return last;
  }

  #open(key: string, { backoff }: LastStatements, running: IdleSpan): Series {
    const onReturned = (): void => this.#release(key, series);
    const returning = new ReturningCallers(returnMs, onReturned, backoff);
    const series: Series = {
      waiting: new Set(),
      returning,
      running,
      late: undefined,
    };
    this.#series.set(key, series);
    return series;
  }

  #release(key: string, series: Series): void {
    this.#series.delete(key);
    if (series.waiting.size > 0) this.#onFree(series.waiting);
  }
}

function checksOf({ waiting }: Series): number {
  return [...waiting].reduce((sum, { size }) => sum + size, 0);
}
