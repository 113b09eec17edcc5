import type { Connection } from "./connection.ts";

/** A connection of a pool. */
export interface PooledConnection {
  readonly connection: Connection;
  /** From then on it is replaced. */
  endsAt: number;
  idleSince: number;
  /** When it last answered. */
  aliveAt: number;
}

/** The connections of a pool that have nothing to do. */
export class IdleConnections {
  /** Those that were of use last stand last. */
  readonly #list: PooledConnection[] = [];

  get length(): number {
    return this.#list.length;
  }

  /** All of them, those that were of use last last. */
  get all(): readonly PooledConnection[] {
    return this.#list.slice();
  }

  has(held: PooledConnection): boolean {
    return this.#list.includes(held);
  }

  /** Adds one that has just been of use. */
  add(held: PooledConnection): void {
    held.idleSince = performance.now();
    this.#list.push(held);
  }

  /** It was of use at another time. */
  putBack(held: PooledConnection, idleSince: number): void {
    held.idleSince = idleSince;
    this.#list.sort((a, b) => a.idleSince - b.idleSince);
  }

  /**
   * Takes the one that was of use last: of those that have prepared the text, if there are any, since planning it takes
   * longer than most statements.
   */
  take(text: string): PooledConnection | undefined {
    const place = this.#list.findLastIndex(({ connection }) => connection.hasPrepared(text));
    // Without one that has prepared it, the place is -1: the last one.
    return this.#list.splice(place, 1)[0];
  }

  /** Does nothing if it is not there. */
  remove(held: PooledConnection): void {
    const place = this.#list.indexOf(held);
    if (place >= 0) this.#list.splice(place, 1);
  }
}
