/** A state of the whole engine: how many writes it has seen. */
export type Revision = number;

/**
 * A change of a tenant, which may take several time slices. No state shows any of it until
 * all is done: then its revision is set, and with that all of it shows at once.
 */
export interface Write {
  /** The state that it made; Infinity until then. */
  revision: Revision;
}

export function beginWrite(): Write {
  return { revision: Infinity };
}

/** What stood: from the state of one write on, until that of another; until now without `deleted`. */
export interface Lifetime {
  readonly created: Write;
  readonly deleted: Write | undefined;
}

/** Whether it stood in a state. */
export function standsAt({ created, deleted }: Lifetime, revision: Revision): boolean {
  return created.revision <= revision && (deleted === undefined || revision < deleted.revision);
}

/** Whether it stands for the write that is under way, with all that this one has done. */
export function standsNow(lifetime: Lifetime | undefined): boolean {
  return lifetime !== undefined && lifetime.deleted === undefined;
}

interface Ended<T> {
  readonly item: T;
  readonly by: Write;
}

/** What has ended, in the order in which it did. */
export class EndedQueue<T> {
  #items: Ended<T>[] = [];

  /** Writes of a tenant follow one another. */
  add(item: T, by: Write): void {
    this.#items.push({ item, by });
  }

  /** Takes out the first, at most `limit`, that ended at a revision or before it. */
  take(horizon: Revision, limit: number): readonly T[] {
    let count = 0;
    while (count < limit && (this.#items[count]?.by.revision ?? Infinity) <= horizon) count++;
    return this.#items.splice(0, count).map(({ item }) => item);
  }
}
