import { connectionsGoFirst, loopRound } from "./loop-round.ts";
import { TenantTurns } from "./tenant-turns.ts";
import type { TenantId } from "./tuple.ts";

/** Work that begins when it is its turn. */
export interface Turn {
  readonly tenant: TenantId | undefined;
  readonly begin: () => void;
}

/**
 * Begins at most so many pieces of work in one round of the event loop. The others wait for later
 * rounds in a fair queue: thousands of requests of one tenant wait for each other, and hold up the
 * other tenants for one round at most. While there is little to do, nothing waits.
 */
export class LoopTurns {
  readonly #perRound: number;
  readonly #waiting = new TenantTurns<Turn>();
  #round = -1;
  #begun = 0;
  #isScheduled = false;

  constructor(perRound: number) {
    this.#perRound = perRound;
  }

  /** Begins the work now or in a later round. */
  enter(turn: Turn): void {
    if (this.#waiting.size === 0 && this.#hasRoom()) {
      this.#begun += 1;
      turn.begin();
      return;
    }
    this.wait(turn);
  }

  /** Begins the work in a later round. */
  wait(turn: Turn): void {
    this.#waiting.add(turn);
    this.#schedule();
  }

  /** Takes back work that has not begun. Does nothing when it has. */
  leave(turn: Turn): void {
    this.#waiting.remove(turn);
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
