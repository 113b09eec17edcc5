import { cancelled, type PembaError } from "../../../base/error.ts";
import type { Connection } from "./connection.ts";

interface ConnectionWaiter {
  readonly since: number;
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
}

/** Statements that wait for a connection, in the order in which they came. */
export class WaitingLine {
  readonly #onLeft: () => void;
  readonly #waiters = new Set<ConnectionWaiter>();
  #waited = 0;
  #waitedMs = 0;

  /** `onLeft` is called when one has left without a connection. */
  constructor(onLeft: () => void) {
    this.#onLeft = onLeft;
  }

  get length(): number {
    return this.#waiters.size;
  }

  /** How long the first has waited, in milliseconds; 0 when nothing waits. */
  get longestMs(): number {
    const [first] = this.#waiters;
    return first === undefined ? 0 : performance.now() - first.since;
  }

  /** Those that ever waited, and how many milliseconds, all together. */
  get past(): { readonly waited: number; readonly waitedMs: number } {
    return { waited: this.#waited, waitedMs: this.#waitedMs };
  }

  /**
   * The connection that is given. Fails with the error of `refuse` or `refuseAll`, with CANCELLED
   * when the signal is aborted, and with that of `late` after `timeoutMs` milliseconds (0: never).
   */
  join(
    signal: AbortSignal | undefined,
    timeoutMs: number,
    late: () => PembaError,
  ): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const waiter: ConnectionWaiter = { since: performance.now(), resolve, reject };
    const leaveWith = (why: PembaError): void => {
      if (!this.#waiters.delete(waiter)) return;
      reject(why);
      this.#onLeft();
    };
    const leave = (): void => leaveWith(cancelled(undefined));
    this.#waiters.add(waiter);
    signal?.addEventListener("abort", leave, { once: true });
    const timer = timeoutMs === 0 ? undefined : setTimeout(() => leaveWith(late()), timeoutMs);
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
      this.#waited++;
      this.#waitedMs += performance.now() - waiter.since;
    });
  }

  /** Gives a connection to the first. False when nothing waits. */
  give(connection: Connection): boolean {
    const waiter = this.#takeFirst();
    waiter?.resolve(connection);
    return waiter !== undefined;
  }

  /** Fails the first. */
  refuse(error: unknown): void {
    this.#takeFirst()?.reject(error);
  }

  /** Fails all. */
  refuseAll(error: unknown): void {
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }

  #takeFirst(): ConnectionWaiter | undefined {
    const [waiter] = this.#waiters;
    if (waiter !== undefined) this.#waiters.delete(waiter);
    return waiter;
  }
}
