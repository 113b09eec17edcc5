import type { Change } from "../change.ts";
import { Notifier } from "../notifier.ts";
import type { Revision } from "./revision.ts";

/** What one write changed. */
export interface LoggedWrite {
  /** The state right after it. */
  readonly revision: Revision;
  readonly changes: readonly Change[];
}

/** The writes of a tenant that changed something, in their order, for streams of changes. */
export class ChangeLog {
  readonly #notifier = new Notifier();
  #writes: LoggedWrite[] = [];
  /** Writes up to this one are forgotten. */
  #forgotten: Revision = 0;
  #isEnded = false;

  /** True once the tenant is gone. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  append(write: LoggedWrite): void {
    this.#writes.push(write);
    this.#notifier.notify();
  }

  /** The tenant is gone: all streams that wait for a write are woken. */
  end(): void {
    this.#isEnded = true;
    this.#notifier.notify();
  }

  /** The first write after a state, if there has been one; "forgotten" when that is not known. */
  after(revision: Revision): LoggedWrite | "forgotten" | undefined {
    if (revision < this.#forgotten) return "forgotten";
    let low = 0;
    let high = this.#writes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#writes[middle]?.revision ?? Infinity) > revision) high = middle;
      else low = middle + 1;
    }
    return this.#writes[low];
  }

  /**
   * Resolves at the next write, when the tenant is gone, when the signal is aborted, or after so many
   * milliseconds.
   */
  async grown(signal: AbortSignal, withinMs: number): Promise<void> {
    await this.#notifier.notified(signal, withinMs);
  }

  /** Forgets at most `limit` of the writes up to a state. Returns how many. */
  prune(horizon: Revision, limit: number): number {
    let count = 0;
    while (count < limit && (this.#writes[count]?.revision ?? Infinity) <= horizon) count++;
    const [last] = this.#writes.splice(0, count).slice(-1);
    this.#forgotten = last?.revision ?? this.#forgotten;
    return count;
  }
}
