import { cancelled } from "./error.ts";

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/** The result of work that callers share. A caller that leaves fails with CANCELLED at once, and the work goes on. */
export async function awaitShared<T>(
  result: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return await result;
  const left = Promise.withResolvers<never>();
  const leave = (): void => left.reject(cancelled(undefined));
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([result, left.promise]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** Runs work once that several callers want at the same time (single flight). */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /** Whether work for the key is in progress. */
  has(key: string): boolean {
    return this.#flights.has(key);
  }

  /**
   * Joins the work in progress for the key, or starts it with `start`. The signal of `start` aborts
   * when every caller has left. A caller that leaves fails with CANCELLED at once.
   */
  async join(
    key: string,
    start: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const flight = this.#flights.get(key) ?? this.#take(key, start);
    flight.waiters += 1;
    try {
      return await awaitShared(flight.result, signal);
    } finally {
      flight.waiters -= 1;
      if (flight.waiters === 0) {
        // Work that was given up cannot be joined.
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        flight.controller.abort();
      }
    }
  }

  #take(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const result = start(controller.signal);
    const flight: Flight<T> = { result, controller, waiters: 0 };
    this.#flights.set(key, flight);
    const end = (): void => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    result.then(end, end);
    return flight;
  }
}
