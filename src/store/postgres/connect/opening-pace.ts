import type { WaitingLine } from "./waiting-line.ts";

/** A caller that has waited so long is likely to wait for statements that take long. */
const patienceMs = 25;

/**
 * How many connections are made at the same time. The server starts a process for each, which takes its
 * processors from the statements that run, while most of these end sooner than a process starts. So while
 * connections are in use one other is made at a time, and another one each time that the first caller has
 * waited for `patienceMs`.
 */
export class OpeningPace {
  readonly #line: WaitingLine;
  readonly #again: () => void;
  /** `again` will be called. */
  #isTimed = false;

  /** `again` is called when more may be made than before. */
  constructor(line: WaitingLine, again: () => void) {
    this.#line = line;
    this.#again = again;
  }

  /** The first caller waits for so long that it needs a connection, prepared or not. */
  get isPressing(): boolean {
    return this.#steps > 0;
  }

  /** Whether another one may be made beside so many. If not, `again` is called in time. */
  allows({ opening, isInUse }: { readonly opening: number; readonly isInUse: boolean }): boolean {
    if (!isInUse || opening < 1 + this.#steps) return true;
    if (this.#line.length === 0 || this.#isTimed) return false;
    this.#isTimed = true;
    const leftMs = (this.#steps + 1) * patienceMs - this.#line.longestMs;
    setTimeout(() => {
      this.#isTimed = false;
      this.#again();
    }, leftMs);
    return false;
  }

  get #steps(): number {
    return Math.floor(this.#line.longestMs / patienceMs);
  }
}
