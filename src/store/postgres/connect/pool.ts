import type { PembaError } from "../../../base/error.ts";
import type { Connection } from "./connection.ts";
import { poolClosing } from "./driver-error.ts";
import { IdleConnections, type PooledConnection } from "./idle-connections.ts";
import { OpeningPace } from "./opening-pace.ts";
import { healthCheckOf, lifetimeOf, type PoolOptions, silenceOf, tickOf } from "./pool-options.ts";
import { WaitingLine } from "./waiting-line.ts";

/** The state of a pool, for metrics. */
export interface PoolState {
  readonly busy: number;
  readonly idle: number;
  /** Connections that are being made. */
  readonly opening: number;
  /** Statements that wait for a connection now. */
  readonly waiting: number;
  /** Those that ever had to wait, and how many milliseconds, all together. */
  readonly waited: number;
  readonly waitedMs: number;
}

/** Makes a connection, or gives up by the signal. Until `isWanted`, it may be prepared for what it will be asked. */
type OpenConnection = (signal: AbortSignal, isWanted: () => boolean) => Promise<Connection>;

/** After a failed connection that no caller waits for, such as a reserve, the next attempt comes this late. */
const retryMs = 1_000;

/** While the server is away, an attempt comes this long after the one before has failed. */
const awayPauseMs = 100;

/**
 * The connections to one server: at most so many, each with one statement at a time, the one that
 * was of use last first, so that those that are too many are left to grow old.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #open: OpenConnection;
  readonly #held = new Map<Connection, PooledConnection>();
  readonly #idle = new IdleConnections();
  readonly #line = new WaitingLine(() => this.#endIfDone());
  readonly #pace = new OpeningPace(this.#line, () => this.#fill());
  readonly #timer: NodeJS.Timeout;
  #opening = 0;
  /** Ends what is being made. */
  #cutting = new AbortController();
  #retryAt = 0;
  /** There is no connection, and the last attempt has failed. */
  #isAway = false;
  /** The wait for the next attempt meanwhile. */
  #awayPause: NodeJS.Timeout | undefined;
  #closing: PromiseWithResolvers<void> | undefined;

  constructor(options: PoolOptions, open: OpenConnection) {
    this.#options = options;
    this.#open = open;
    this.#timer = setInterval(() => this.#tick(), tickOf(options)).unref();
  }

  get state(): PoolState {
    const idle = this.#idle.length;
    return {
      busy: this.#held.size - idle,
      idle,
      opening: this.#opening,
      waiting: this.#line.length,
      ...this.#line.past,
    };
  }

  /** An idle connection for the text of a statement, if there is one, as `acquire` gives it. */
  take(text: string): Connection | undefined {
    if (this.#closing !== undefined) throw poolClosing();
    for (;;) {
      const free = this.#idle.take(text);
      if (free === undefined) return undefined;
      if (free.connection.isOpen) {
        this.#fill();
        return free.connection;
      }
      this.#discard(free);
    }
  }

  /**
   * A connection for one statement, to be given back with `release`. Fails with CANCELLED when the
   * signal is aborted first, as `late` says when so many milliseconds are over (0: never), and as
   * making a connection does when it waits for one that cannot be made.
   */
  async acquire(
    text: string,
    signal: AbortSignal | undefined,
    timeoutMs: number,
    late: () => PembaError,
  ): Promise<Connection> {
    const free = this.take(text);
    if (free !== undefined) return free;
    const given = this.#line.join(signal, timeoutMs, late);
    this.#fill();
    return await given;
  }

  /** The statement is over. */
  release(connection: Connection): void {
    const held = this.#held.get(connection);
    if (held === undefined) return;
    held.aliveAt = performance.now();
    const isOver = held.aliveAt >= held.endsAt || !connection.isOpen;
    if (isOver) this.#discard(held);
    else if (connection.isNearlyFull) this.#renew(held);
    else this.#offer(held);
  }

  /** Takes a connection that was made elsewhere. */
  adopt(connection: Connection): void {
    const now = performance.now();
    const endsAt = now + lifetimeOf(this.#options);
    const held: PooledConnection = { connection, endsAt, idleSince: now, aliveAt: now };
    this.#held.set(connection, held);
    void connection.ended.then(() => this.#discard(held));
    this.#offer(held);
    this.#fill();
  }

  /** The connection is not worth another statement. */
  discard(connection: Connection): void {
    const held = this.#held.get(connection);
    if (held !== undefined) this.#discard(held);
  }

  /**
   * Ends all connections at once, also those that are being made, so that running statements fail. New
   * ones can be made. With `reason`, callers that wait fail with it.
   */
  cut(reason?: PembaError): void {
    if (reason !== undefined) this.#line.refuseAll(reason);
    this.#cutting.abort();
    this.#cutting = new AbortController();
    for (const held of this.#held.values()) this.#discard(held);
  }

  /** Ends all connections, each once its statement is over, or when `timeoutMs` are. */
  async close(timeoutMs: number): Promise<void> {
    this.#closing ??= Promise.withResolvers();
    clearInterval(this.#timer);
    this.#endAway();
    const late = setTimeout(() => {
      this.cut(poolClosing());
      this.#closing?.resolve();
    }, timeoutMs);
    for (const held of this.#idle.all) this.#discard(held);
    // While the server is away nothing may be under way that they could get.
    if (this.#held.size + this.#opening === 0) this.#line.refuseAll(poolClosing());
    this.#endIfDone();
    await this.#closing.promise;
    clearTimeout(late);
  }

  /**
   * Has another connection take the place of one whose statements take much of the server. That one
   * goes on until the other one is there, so that no request waits for it: for that time there may be one
   * more than the most. One is renewed at a time, and what finds no room until then is planned anew
   * each time.
   */
  #renew(held: PooledConnection): void {
    this.#offer(held);
    const isQuiet = this.#closing !== undefined || performance.now() < this.#retryAt;
    const isOther = this.#opening > 0 || this.#held.size > this.#options.maxConnections;
    if (isQuiet || isOther) return;
    void this.#add({ isAwaited: false }).then((isMade) => {
      if (isMade) this.#retire(held);
    });
  }

  /** Ends a connection when its statement is over. */
  #retire(held: PooledConnection): void {
    held.endsAt = 0;
    if (this.#idle.has(held)) this.#discard(held);
  }

  #offer(held: PooledConnection): void {
    if (this.#line.give(held.connection)) return;
    if (this.#closing !== undefined) {
      this.#discard(held);
      return;
    }
    this.#idle.add(held);
  }

  #discard(held: PooledConnection): void {
    if (!this.#held.delete(held.connection)) return;
    this.#idle.remove(held);
    void held.connection.close();
    this.#fill();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#held.size + this.#opening + this.#line.length === 0) this.#closing?.resolve();
  }

  /**
   * Makes the connections that are missing: for callers that wait, and up to the minimum. While the server is
   * away, one at a time and not at once: an attempt takes as long as a check, and callers come again.
   */
  #fill(): void {
    const { maxConnections, minConnections = 0, minIdleConnections = 0 } = this.#options;
    const isQuiet = this.#closing !== undefined || performance.now() < this.#retryAt;
    for (;;) {
      if (this.#awayPause !== undefined || (this.#isAway && this.#opening > 0)) return;
      const all = this.#held.size + this.#opening;
      const free = this.#idle.length + this.#opening - this.#line.length;
      const isScarce = !isQuiet && (all < minConnections || free < minIdleConnections);
      if (all >= maxConnections || !(free < 0 || isScarce)) return;
      const isInUse = this.#idle.length < this.#held.size;
      if (!this.#pace.allows({ opening: this.#opening, isInUse })) return;
      void this.#add({ isAwaited: true });
    }
  }

  /** Makes a connection; false when that fails, which fails the caller that waits for it. */
  async #add({ isAwaited }: { readonly isAwaited: boolean }): Promise<boolean> {
    this.#opening++;
    const { signal } = this.#cutting;
    try {
      const connection = await this.#open(signal, () => this.#isWanted());
      this.#opening--;
      this.#retryAt = 0;
      this.#endAway();
      this.adopt(connection);
      return true;
    } catch (error) {
      this.#opening--;
      this.#retryAt = performance.now() + retryMs;
      // An attempt that `cut` ended concerns no caller.
      if (!signal.aborted && isAwaited) this.#refuse(error);
      this.#fill();
      this.#endIfDone();
      return false;
    }
  }

  /** Something waits that no other connection will soon be there for. */
  #isWanted(): boolean {
    return this.#closing !== undefined || this.#held.size === 0 || this.#pace.isPressing;
  }

  /**
   * The caller that waits longest fails with it; the others get a connection that is in use, or have attempts of
   * their own. If there is neither, the server is away for all.
   */
  #refuse(error: unknown): void {
    this.#isAway = this.#held.size === 0;
    if (!this.#isAway || this.#opening > 0) return this.#line.refuse(error);
    this.#line.refuseAll(error);
    if (this.#closing !== undefined) return;
    this.#awayPause = setTimeout(() => {
      this.#awayPause = undefined;
      this.#fill();
    }, awayPauseMs);
  }

  #endAway(): void {
    this.#isAway = false;
    clearTimeout(this.#awayPause);
    this.#awayPause = undefined;
  }

  #tick(): void {
    const { minConnections = 0, minIdleConnections = 0, idleTimeoutMs } = this.#options;
    const healthCheckMs = healthCheckOf(this.#options);
    const now = performance.now();
    for (const held of this.#idle.all) {
      const isSpare = this.#held.size > minConnections && this.#idle.length > minIdleConnections;
      const isUnused = idleTimeoutMs > 0 && now - held.idleSince >= idleTimeoutMs;
      if (now >= held.endsAt || (isUnused && isSpare)) this.#discard(held);
      else if (now - held.aliveAt >= healthCheckMs) void this.#check(held);
    }
    this.#fill();
  }

  /** Asks an idle connection whether it is alive, and gives it up when it is not. */
  async #check(held: PooledConnection): Promise<void> {
    this.#idle.remove(held);
    const { idleSince } = held;
    const late = setTimeout(() => this.#discard(held), silenceOf(this.#options));
    try {
      await held.connection.greet();
      if (!this.#held.has(held.connection)) return;
      held.aliveAt = performance.now();
      this.#offer(held);
      // That was not what it is kept for: it goes on growing old.
      this.#idle.putBack(held, idleSince);
    } catch {
      this.#discard(held);
    } finally {
      clearTimeout(late);
    }
  }
}
