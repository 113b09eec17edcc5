import { LRUCache } from "lru-cache";

import { ReturningCallers } from "../../base/returning-callers.ts";
import type { CheckBatch } from "./check-batch.ts";

/** A statement that takes longer lets others run beside it, in milliseconds. */
const quickMs = 1;

/** So long the callers of a statement are waited for. */
const returnMs = 1;

/** Keys without a statement of which it is known how long the last one took. */
const keysMax = 1_000;

/** The statements of one key. */
class Rounds {
  /** Batches that wait for the end of a statement. */
  readonly waiting = new Set<CheckBatch>();
  readonly returning: ReturningCallers;
  /** The statement that keeps others back. */
  running: object | undefined;
  /** Whether the last statement was. */
  isQuick = true;

  constructor(onReturned: () => void) {
    this.returning = new ReturningCallers(returnMs, onReturned);
  }

  get isHeld(): boolean {
    return this.running !== undefined || this.returning.isWaiting;
  }

  get checks(): number {
    return [...this.waiting].reduce((sum, { size }) => sum + size, 0);
  }
}

/**
 * Has local checks of one key go in one statement after the other, as long as these are quick: starting a
 * statement costs more than a few probes, so two at the same time cost twice as much as one for all of their checks.
 */
export class LocalRounds {
  /** Those that are held. */
  readonly #held = new Map<string, Rounds>();
  readonly #free = new LRUCache<string, Rounds>({ max: keysMax });
  readonly #onFree: (batches: Iterable<CheckBatch>) => void;

  /** `onFree` is called with batches that waited, when they may go. */
  constructor(onFree: (batches: Iterable<CheckBatch>) => void) {
    this.#onFree = onFree;
  }

  /** Whether the batch has to wait. It goes to `onFree` later. */
  hold(batch: CheckBatch): boolean {
    const rounds = this.#held.get(batch.key);
    rounds?.waiting.add(batch);
    return rounds !== undefined;
  }

  /** A check has joined a batch of the key. */
  joined(key: string): void {
    const rounds = this.#held.get(key);
    if (rounds?.returning.isWaiting === true) rounds.returning.entered(rounds.checks);
  }

  /** Called when a statement for so many checks of the key is sent. Returns what is called when it has ended. */
  begin(key: string, checks: number): () => void {
    const rounds = this.#held.get(key) ?? this.#free.get(key) ?? this.#make(key);
    const began = performance.now();
    const running = {};
    let late: NodeJS.Timeout | undefined;
    if (rounds.isQuick && !rounds.isHeld) {
      rounds.running = running;
      this.#held.set(key, rounds);
      this.#free.delete(key);
      late = setTimeout(() => this.#release(key, rounds), quickMs);
    }
    return () => {
      clearTimeout(late);
      rounds.isQuick = performance.now() - began < quickMs;
      if (rounds.running !== running) return;
      rounds.running = undefined;
      if (!rounds.returning.waitFor(checks, rounds.checks)) this.#release(key, rounds);
    };
  }

  #make(key: string): Rounds {
    const rounds: Rounds = new Rounds(() => this.#release(key, rounds));
    this.#free.set(key, rounds);
    return rounds;
  }

  #release(key: string, rounds: Rounds): void {
    const batches = [...rounds.waiting];
    rounds.running = undefined;
    rounds.waiting.clear();
    this.#held.delete(key);
    this.#free.set(key, rounds);
    this.#onFree(batches);
  }
}
