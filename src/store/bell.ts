/** Wakes those who wait for something to happen, each once. */
export class Bell {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next ring, or when the signal is aborted. */
  async heard(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    try {
      await promise;
    } finally {
      this.#waiting.delete(resolve);
    }
  }
}
