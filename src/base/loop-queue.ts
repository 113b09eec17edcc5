import { FairQueue } from "./fair-queue.ts";
import { connectionsGoFirst, loopRound } from "./loop-round.ts";
import type { NamedTenant } from "./tuple.ts";

/** Work that begins in this round of the event loop or in a later one. */
export interface LoopEntry {
  readonly tenant: NamedTenant | undefined;
  readonly begin: () => void;
}

/**
 * Begins at most so many pieces of work in one round of the event loop. The others wait for later
 * rounds in a fair queue: thousands of requests of one tenant wait for each other, and hold up the
 * other tenants for one round at most. While there is little to do, nothing waits.
 */
export class LoopQueue {
  readonly #perRound: number;
  readonly #waiting = new FairQueue<LoopEntry>();
  #round = -1;
  #begun = 0;
  #isScheduled = false;

  constructor(perRound: number) {
    this.#perRound = perRound;
  }

  /** Begins the work now or in a later round. */
  enter(entry: LoopEntry): void {
    if (this.beginsNow()) entry.begin();
    else this.wait(entry);
  }

  /** Whether work may begin in this round, as one of its pieces. Work that may not has to wait. */
  beginsNow(): boolean {
    if (this.#waiting.size > 0 || !this.#hasRoom()) return false;
    this.#begun += 1;
    return true;
  }

  /** Begins the work in a later round. */
  wait(entry: LoopEntry): void {
    this.#waiting.add(entry);
    this.#schedule();
  }

  /** Takes back work that has not begun. Does nothing when it has. */
  leave(entry: LoopEntry): void {
    this.#waiting.remove(entry);
  }

  #hasRoom(): boolean {
    const round = loopRound();
    if (round !== this.#round) {
      this.#round = round;
      this.#begun = 0;
    }
    return this.#begun < this.#perRound;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      if (!connectionsGoFirst()) this.#beginNext();
      this.#isScheduled = false;
      if (this.#waiting.size > 0) this.#schedule();
    });
  }

  #beginNext(): void {
    while (this.#hasRoom()) {
      const next = this.#waiting.next();
      if (next === undefined) return;
      this.#begun += 1;
      next.begin();
    }
  }
}
