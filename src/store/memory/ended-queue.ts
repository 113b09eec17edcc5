import type { Revision } from "./revision.ts";

interface Ended<T> {
  readonly item: T;
  readonly at: Revision;
}

/** What has ended, in the order in which it did. */
export class EndedQueue<T> {
  #items: Ended<T>[] = [];

  /** Revisions never go back. */
  add(item: T, at: Revision): void {
    this.#items.push({ item, at });
  }

  /** Takes out the first, at most `limit`, that ended at a revision or before it. */
  take(horizon: Revision, limit: number): readonly T[] {
    let count = 0;
    while (count < limit && (this.#items[count]?.at ?? Infinity) <= horizon) count++;
    return this.#items.splice(0, count).map(({ item }) => item);
  }
}
