import { Backoff } from "../../../base/backoff.ts";
import type { Tail } from "../../layer/tail.ts";
import { optionalTextOf, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import type { Reads } from "../replicas/reads.ts";

const quietStatement = statementFile("changes/quiet.sql");

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

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  /** Whether it is worth a look now. Each time that it is not brings the next look nearer. */
  mayLook(): boolean {
    return this.#backoff.mayTry();
  }

  /**
   * Whether the present state is that of all these tails. False as well if that is not known, or not looked at.
   * Fails with UNAVAILABLE.
   */
  async isQuietSince(tails: readonly (SeenTail | undefined)[]): Promise<boolean> {
    const [first] = tails;
    if (first === undefined || !tails.every((seen) => isAlike(seen, first))) return false;
    if (!this.mayLook()) return false;
    const frame = { state: undefined, head: undefined, signal: undefined };
    const [row] = await this.#reads.read(quietStatement, [], frame);
    const isQuiet =
      row !== undefined &&
      optionalTextOf(row, "shown") === first.tail.state.shown &&
      textOf(row, "life") === first.life;
    if (isQuiet) this.#backoff.succeeded();
    else this.#backoff.failed();
    return isQuiet;
  }
}

function isAlike(seen: SeenTail | undefined, { tail, life }: SeenTail): boolean {
  return seen?.tail.state.shown === tail.state.shown && seen.life === life;
}
