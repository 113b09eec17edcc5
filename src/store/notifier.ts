/** Wakes all that wait for an event, each once. */
export class Notifier {
  readonly #waiting = new Set<() => void>();

  notify(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next `notify`, when the signal is aborted, or after so many milliseconds. */
  async notified(signal: AbortSignal, withinMs?: number): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const wake = (): void => resolve();
    signal.addEventListener("abort", wake);
    const timer = withinMs === undefined ? undefined : setTimeout(wake, withinMs).unref();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      // The signal lives as long as the stream, and may be heard many times before it is aborted.
      signal.removeEventListener("abort", wake);
      this.#waiting.delete(resolve);
    }
  }
}
