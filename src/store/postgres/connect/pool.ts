import { cancelled, PembaError } from "../../../base/error.ts";
import type { Connection } from "./connection.ts";
import { healthCheckOf, lifetimeOf, type PoolOptions, silenceOf, tickOf } from "./pool-options.ts";

/** What a pool is at, for whoever measures it. */
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

interface Held {
  readonly connection: Connection;
  /** From then on it is replaced. */
  readonly endsAt: number;
  idleSince: number;
  /** When it last answered. */
  aliveAt: number;
}

interface Waiter {
  readonly since: number;
  readonly resolve: (connection: Connection) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A prepared statement takes 75 bytes of the server for each character of its text (measured on those
 * of `test/sql/golden` with their plans): for so many about 40 MB a connection. One that has its fill
 * is replaced, which costs less than to keep book of what to forget, and takes the driver's, too.
 */
const preparedCharactersMax = 500_000;

/** After a failure nobody waits for, as of one to be kept in reserve, the next try comes this late. */
const retryMs = 1_000;

/**
 * The connections to one server: at most so many, each with one statement at a time, the one that
 * was of use last first, so that those that are too many are left to grow old.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #open: (signal: AbortSignal) => Promise<Connection>;
  readonly #held = new Map<Connection, Held>();
  /** Those that were of use last stand last. */
  readonly #idle: Held[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #timer: NodeJS.Timeout;
  #opening = 0;
  /** Ends what is being made. */
  #cutting = new AbortController();
  #retryAt = 0;
  #waited = 0;
  #waitedMs = 0;
  #closing: PromiseWithResolvers<void> | undefined;

  /** `open` makes a connection, or gives up when the signal says so. */
  constructor(options: PoolOptions, open: (signal: AbortSignal) => Promise<Connection>) {
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
      waiting: this.#waiters.size,
      waited: this.#waited,
      waitedMs: this.#waitedMs,
    };
  }

  /** An idle connection, if there is one, as `acquire` gives it. */
  take(): Connection | undefined {
    if (this.#closing !== undefined) throw poolClosing();
    for (;;) {
      const free = this.#idle.pop();
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
   * signal is aborted first, with DEADLINE_EXCEEDED when so many milliseconds are over (0: never), and
   * as making a connection does when it waits for one that cannot be made.
   */
  async acquire(signal: AbortSignal | undefined, timeoutMs: number): Promise<Connection> {
    const free = this.take();
    if (free !== undefined) return free;
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const waiter: Waiter = { since: performance.now(), resolve, reject };
    const leaveWith = (why: PembaError): void => {
      if (!this.#waiters.delete(waiter)) return;
      reject(why);
      this.#endIfDone();
    };
    const leave = (): void => leaveWith(cancelled(undefined));
    this.#waiters.add(waiter);
    signal?.addEventListener("abort", leave, { once: true });
    const timer = timeoutMs === 0 ? undefined : setTimeout(() => leaveWith(noneFree()), timeoutMs);
    this.#fill();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", leave);
      this.#waited++;
      this.#waitedMs += performance.now() - waiter.since;
    }
  }

  /** The statement is over. */
  release(connection: Connection): void {
    const held = this.#held.get(connection);
    if (held === undefined) return;
    held.aliveAt = performance.now();
    const isOver = held.aliveAt >= held.endsAt || !connection.isOpen;
    if (isOver || connection.preparedCharacters >= preparedCharactersMax) this.#discard(held);
    else this.#offer(held);
  }

  /** Takes a connection that was made elsewhere. */
  adopt(connection: Connection): void {
    const now = performance.now();
    const endsAt = now + lifetimeOf(this.#options);
    const held: Held = { connection, endsAt, idleSince: now, aliveAt: now };
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
   * Ends all connections at once, those that are being made, too: what runs fails. New ones can be
   * made, as for who waits, unless these fail, too.
   */
  cut(whyNotWait?: PembaError): void {
    if (whyNotWait !== undefined) this.#refuseWaiters(whyNotWait);
    this.#cutting.abort();
    this.#cutting = new AbortController();
    for (const held of this.#held.values()) this.#discard(held);
  }

  /** Ends all connections, each once its statement is over, or when `timeoutMs` are. */
  async close(timeoutMs: number): Promise<void> {
    this.#closing ??= Promise.withResolvers();
    clearInterval(this.#timer);
    const late = setTimeout(() => {
      this.cut(poolClosing());
      this.#closing?.resolve();
    }, timeoutMs);
    for (const held of this.#idle.splice(0)) this.#discard(held);
    this.#endIfDone();
    await this.#closing.promise;
    clearTimeout(late);
  }

  #refuseWaiters(error: PembaError): void {
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }

  #offer(held: Held): void {
    const [waiter] = this.#waiters;
    if (waiter !== undefined) {
      this.#waiters.delete(waiter);
      waiter.resolve(held.connection);
      return;
    }
    if (this.#closing !== undefined) {
      this.#discard(held);
      return;
    }
    held.idleSince = performance.now();
    this.#idle.push(held);
  }

  #discard(held: Held): void {
    if (!this.#held.delete(held.connection)) return;
    const position = this.#idle.indexOf(held);
    if (position >= 0) this.#idle.splice(position, 1);
    void held.connection.close();
    this.#fill();
    this.#endIfDone();
  }

  #endIfDone(): void {
    if (this.#held.size + this.#opening + this.#waiters.size === 0) this.#closing?.resolve();
  }

  /** Makes the connections that are missing: for those who wait, and the least that are to be there. */
  #fill(): void {
    const { maxConnections, minConnections = 0, minIdleConnections = 0 } = this.#options;
    const isQuiet = this.#closing !== undefined || performance.now() < this.#retryAt;
    for (;;) {
      const all = this.#held.size + this.#opening;
      const free = this.#idle.length + this.#opening - this.#waiters.size;
      const isScarce = !isQuiet && (all < minConnections || free < minIdleConnections);
      if (all >= maxConnections || !(free < 0 || isScarce)) return;
      void this.#add();
    }
  }

  async #add(): Promise<void> {
    this.#opening++;
    const { signal } = this.#cutting;
    try {
      const connection = await this.#open(signal);
      this.#opening--;
      this.#retryAt = 0;
      this.adopt(connection);
    } catch (error) {
      this.#opening--;
      this.#retryAt = performance.now() + retryMs;
      // Whoever waits longest hears of it; the others have tries of their own. What a cut
      // ended has nothing to do with who waits still.
      const [waiter] = signal.aborted ? [] : this.#waiters;
      if (waiter !== undefined) {
        this.#waiters.delete(waiter);
        waiter.reject(error);
      }
      this.#fill();
      this.#endIfDone();
    }
  }

  #tick(): void {
    const { minConnections = 0, minIdleConnections = 0, idleTimeoutMs } = this.#options;
    const healthCheckMs = healthCheckOf(this.#options);
    const now = performance.now();
    for (const held of this.#idle.slice()) {
      const isSpare = this.#held.size > minConnections && this.#idle.length > minIdleConnections;
      const isUnused = idleTimeoutMs > 0 && now - held.idleSince >= idleTimeoutMs;
      if (now >= held.endsAt || (isUnused && isSpare)) this.#discard(held);
      else if (now - held.aliveAt >= healthCheckMs) void this.#check(held);
    }
    this.#fill();
  }

  /** Asks an idle connection whether it is alive, and gives it up when it is not. */
  async #check(held: Held): Promise<void> {
    this.#idle.splice(this.#idle.indexOf(held), 1);
    const { idleSince } = held;
    const late = setTimeout(() => this.#discard(held), silenceOf(this.#options));
    try {
      await held.connection.greet();
      if (!this.#held.has(held.connection)) return;
      held.aliveAt = performance.now();
      this.#offer(held);
      // That was not what it is kept for: it goes on growing old.
      held.idleSince = idleSince;
      this.#idle.sort((a, b) => a.idleSince - b.idleSince);
    } catch {
      this.#discard(held);
    } finally {
      clearTimeout(late);
    }
  }
}

function noneFree(): PembaError {
  const sentence =
    "no connection to the database came free in time (`database.read_timeout`, `database.max_connections`)";
  return new PembaError("DEADLINE_EXCEEDED", sentence);
}

function poolClosing(): PembaError {
  const cause = Object.assign(new Error("the pool is closed"), { code: "CONNECTION_ENDED" });
  return new PembaError("UNAVAILABLE", "the database does not answer", { cause });
}
