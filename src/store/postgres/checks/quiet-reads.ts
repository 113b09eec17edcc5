import { Backoff } from "../../../base/backoff.ts";
import type { Tail } from "../../layer/tail.ts";
import { optionalTextOf, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import type { Reads } from "../replicas/reads.ts";

const quietStatement = statementFile("changes/quiet.sql");

/** A look that takes longer costs one caller more than it saves. */
const quickMs = 5;

/** After a look in vain, a caller that is alone has waited for two statements. That has to be rare. */
const aloneSkipsMax = 1_000;

/** A tail, and the life of the database that showed it. */
interface SeenTail {
  readonly tail: Tail;
  readonly life: string;
}

/**
 * Finds out, at a third of the cost of reading tails, that nothing has changed at all. Where something changes all the
 * time, this would be a statement for nothing, so it is sent less and less often.
 */
export class QuietReads {
  readonly #reads: Reads;
  readonly #backoff = new Backoff();
  /** Of callers that are alone. */
  readonly #alone = new Backoff(aloneSkipsMax);

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  /**
   * Whether one caller alone gains by a look: the last ones were quick, and nothing had changed. Counts as a chance
   * of a look, so it is asked only if the answer decides.
   */
  mayLookAlone(): boolean {
    return this.#alone.mayTry() && this.#backoff.mayTry();
  }

  /**
   * Whether the present state is that of all these tails. False as well if that is not known, or not looked at.
   * Fails with UNAVAILABLE.
   */
  async isQuietSince(tails: readonly (SeenTail | undefined)[]): Promise<boolean> {
    const [first] = tails;
    if (first === undefined || !tails.every((seen) => isAlike(seen, first))) return false;
    if (!this.#backoff.mayTry()) return false;
    const began = performance.now();
    const frame = { state: undefined, head: undefined, signal: undefined };
    const [row] = await this.#reads.read(quietStatement, [], frame);
    const isQuiet =
      row !== undefined &&
      optionalTextOf(row, "shown") === first.tail.state.shown &&
      textOf(row, "life") === first.life;
    count(this.#backoff, isQuiet);
    count(this.#alone, isQuiet && performance.now() - began <= quickMs);
    return isQuiet;
  }
}

function count(backoff: Backoff, isSuccess: boolean): void {
  if (isSuccess) backoff.succeeded();
  else backoff.failed();
}

function isAlike(seen: SeenTail | undefined, { tail, life }: SeenTail): boolean {
  return seen?.tail.state.shown === tail.state.shown && seen.life === life;
}
