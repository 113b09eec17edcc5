/** A state of the whole engine: how many writes it has seen. */
export type Revision = number;

/** When something stood: from `created` on, before `deleted`. */
export interface Lifetime {
  readonly created: Revision;
  readonly deleted: Revision;
}

/** Until nothing deletes it. */
export const forever: Revision = Infinity;

export function standsAt({ created, deleted }: Lifetime, revision: Revision): boolean {
  return created <= revision && revision < deleted;
}

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
