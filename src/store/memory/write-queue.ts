/** Work that is done one after the other, in the order in which it is asked for. */
export class WriteQueue {
  /** Resolves when the last work that was asked for is over; undefined when none is left. */
  #last: Promise<void> | undefined;

  /** Does the work once all before it is over. Fails as the work does, which holds up nothing behind it. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    this.#last = over;
    try {
      if (before !== undefined) await before;
      return await work();
    } finally {
      if (this.#last === over) this.#last = undefined;
      end();
    }
  }
}
