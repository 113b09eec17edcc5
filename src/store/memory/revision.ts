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

/** What one write has ended. */
interface Ended<T> {
  readonly by: Write;
  readonly items: T[];
  /** How many of the items were taken out. */
  taken: number;
}

/**
 * What has ended, in the order in which it did. A write may end a million items, so they stand in one list,
 * without an object for each: to collect these would hold up other requests.
 */
export class EndedQueue<T> {
  #writes: Ended<T>[] = [];

  /** Writes of a tenant follow one another. */
  add(item: T, by: Write): void {
    const last = this.#writes.at(-1);
    if (last?.by === by) last.items.push(item);
    else this.#writes.push({ by, items: [item], taken: 0 });
  }

  /** Takes out the first, at most `limit`, that ended at a revision or before it. */
  take(horizon: Revision, limit: number): readonly T[] {
    const items: T[] = [];
    let done = 0;
    for (const ended of this.#writes) {
      if (items.length === limit || ended.by.revision > horizon) break;
      const end = ended.taken + limit - items.length;
      for (const item of ended.items.slice(ended.taken, end)) items.push(item);
      ended.taken = Math.min(end, ended.items.length);
      if (ended.taken === ended.items.length) done++;
    }
    this.#writes.splice(0, done);
    return items;
  }
}
