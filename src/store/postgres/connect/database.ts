import { LRUCache } from "lru-cache";

import { must } from "../../../base/assert.ts";
import { presentCaller } from "../../../base/caller.ts";
import { cancelled, type PembaError } from "../../../base/error.ts";
import { noTelemetry, type Telemetry } from "../../../base/telemetry.ts";
import { TimerWheel } from "../../../base/timer-wheel.ts";
import { Cancelling } from "./cancelling.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { openRoute, type Route } from "./connection-route.ts";
import type { Connection, Greeting } from "./connection.ts";
import { type DriverFault, failUnsent, faultOf, unknownOutcome } from "./driver-error.ts";
import { noneFree } from "./lateness.ts";
import { aheadOf, type PoolOptions, silenceOf } from "./pool-options.ts";
import { Pool, type PoolState } from "./pool.ts";
import { faultsOfChanges, faultsOfReads, faultsOfSharedChanges, repeatOn } from "./repeat.ts";
import type { Row } from "./row.ts";
import {
  type Changer,
  type StatementRequest,
  runStatement,
  tellStatement,
  timeLeft,
} from "./statement-run.ts";
import { StatementUse } from "./statement-use.ts";
import type { ParameterValue } from "./value.ts";

export interface DatabaseOptions {
  /** With several hosts the first that takes writes. */
  readonly url: string;
  readonly pool: PoolOptions;
  readonly warn: (message: string) => void;
  /** How often `read` and `write` repeat a statement; never when absent. */
  readonly maxRetries?: number | undefined;
  /**
   * After so many milliseconds a statement of `read` is given up, and cancelled where it runs; the wait
   * for a connection and repetitions count. Absent or 0: never.
   */
  readonly readTimeoutMs?: number | undefined;
  /** The same for one of `write`, which may have been made then. */
  readonly writeTimeoutMs?: number | undefined;
  /** Without one, each statement of `read` and `write` finds out for itself that the server is gone. */
  readonly circuit?: CircuitBreaker | undefined;
  /** Called with every statement that goes to the server, as it goes. */
  readonly onStatement?: ((text: string) => void) | undefined;
  /** Called with the server that a connection leads to, each time one is asked. */
  readonly onGreeted?: ((greeting: Greeting) => void) | undefined;
  readonly telemetry?: Telemetry | undefined;
}

/** A text is prepared when it comes again: what is asked once is not worth its place. */
const rememberedTextsMax = 2000;
const rememberedCharactersMax = 20_000_000;

/** How long connections have to finish what they run when the pool closes. */
const closeTimeoutMs = 5_000;

/** The only access to the server: a pool of connections, prepared statements, errors of the table. */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #route: Route;
  readonly #pool: Pool;
  readonly #seen = new LRUCache<string, true>({
    max: rememberedTextsMax,
    maxSize: rememberedCharactersMax,
    sizeCalculation: (_, text) => 1 + text.length,
  });
  readonly #use = new StatementUse();
  readonly #cancelling = new Cancelling();
  readonly #timers = new TimerWheel();
  readonly #telemetry: Telemetry;
  readonly #silenceMs: number;
  readonly #onRepeat = (fault: DriverFault): void =>
    this.#telemetry.add("db.client.retries", 1, { fault });

  #greeting: Greeting;

  private constructor(options: DatabaseOptions, route: Route, greeting: Greeting) {
    this.#options = options;
    this.#telemetry = options.telemetry ?? noTelemetry;
    this.#silenceMs = silenceOf(options.pool);
    this.#route = route;
    this.#greeting = greeting;
    this.#pool = new Pool(options.pool, (signal, isWanted) => this.#open(signal, isWanted));
    this.#pool.adopt(route.first);
  }

  /**
   * Opens a pool. Where the session settings are refused (by a pooler) it works without them. Fails
   * with UNAVAILABLE, or MIGRATION when the server is too old or not set up for it.
   */
  static async connect(options: DatabaseOptions): Promise<Database> {
    const { url, pool, warn } = options;
    let database: Database | undefined;
    let last: Greeting | undefined;
    const onGreeted = (greeting: Greeting): void => {
      last = greeting;
      if (database !== undefined) database.#greeting = greeting;
      options.onGreeted?.(greeting);
    };
    const route = await openRoute({ url, timeoutMs: pool.connectTimeoutMs, onGreeted, warn });
    database = new Database(options, route, must(last, "a server that is open has greeted"));
    return database;
  }

  /** Which server the connection leads to that was asked last. */
  get greeting(): Greeting {
    return this.#greeting;
  }

  /** What the pool is at. */
  get pool(): PoolState {
    return this.#pool.state;
  }

  /** Where tables of applications are looked up whose names have no schema. */
  get schemas(): readonly string[] {
    return this.#route.schemas;
  }

  /** A pooler stands before the server: a session is not the same one from statement to statement. */
  get isPooled(): boolean {
    return this.#route.isPooled;
  }

  /**
   * Runs one statement, which is a transaction of its own. Values are $1, $2 ... The signal cancels
   * the statement on the server; then it fails with CANCELLED.
   */
  async query(
    text: string,
    values: readonly ParameterValue[],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    const rest = { work: "read", endsAt: undefined, changer: undefined } as const;
    return await this.#measured({ text, values, signal, ...rest });
  }

  /** A statement that changes nothing: it is repeated whenever another try may get an answer. */
  async read(
    text: string,
    values: readonly ParameterValue[],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    const endsAt = endAfter(this.#options.readTimeoutMs);
    const rest = { work: "read", endsAt, changer: undefined } as const;
    return await this.#repeated({ text, values, signal, ...rest }, faultsOfReads);
  }

  /**
   * A statement that changes something: it is repeated only when nothing of it was done. When that
   * is not known, it fails with UNAVAILABLE, or with DEADLINE_EXCEEDED when its time is over, or that of
   * the caller whose work is under route, and says so. Until it is sent, it leaves with that caller.
   */
  async write(text: string, values: readonly ParameterValue[]): Promise<readonly Row[]> {
    return await this.#change(text, values, presentCaller(), faultsOfChanges);
  }

  /**
   * A statement that makes changes of several callers. It is repeated only when it was not sent: what
   * another change is in the way of may be the change of one of them. `values` is called each time when
   * it is sent. Otherwise as `write`.
   */
  async writeTogether(
    text: string,
    values: () => readonly ParameterValue[],
    changer: Changer,
  ): Promise<readonly Row[]> {
    return await this.#change(text, values, changer, faultsOfSharedChanges);
  }

  /**
   * Ends all connections at once, so that running statements fail. New ones are made when they are
   * needed. With `reason`, callers that wait for a connection fail with it.
   */
  cut(reason?: PembaError): void {
    this.#pool.cut(reason);
  }

  /** Waits for what runs, for a few seconds, and ends all connections. */
  async close(): Promise<void> {
    await this.#pool.close(closeTimeoutMs);
  }

  async #change(
    text: string,
    values: StatementRequest["values"],
    changer: Changer | undefined,
    faults: readonly DriverFault[],
  ): Promise<readonly Row[]> {
    const asked: StatementRequest = {
      text,
      values,
      work: "change",
      signal: changer?.signal,
      endsAt: earlier(endAfter(this.#options.writeTimeoutMs), changer?.changeEndsAt),
      changer,
    };
    try {
      return await this.#repeated(asked, faults);
    } catch (error) {
      const fault = faultOf(error);
      throw fault === "lost" || fault === "closing" ? unknownOutcome(error) : error;
    }
  }

  #repeated(asked: StatementRequest, faults: readonly DriverFault[]): Promise<readonly Row[]> {
    const { circuit, maxRetries = 0 } = this.#options;
    const work = (): Promise<readonly Row[]> =>
      repeatOn(faults, maxRetries, () => this.#measured(asked), this.#onRepeat);
    return circuit === undefined ? work() : circuit.run(work);
  }

  #measured(asked: StatementRequest): Promise<readonly Row[]> {
    return this.#telemetry.isOn
      ? tellStatement(this.#telemetry, asked.text, () => this.#run(asked))
      : this.#run(asked);
  }

  async #run(asked: StatementRequest): Promise<readonly Row[]> {
    const { text, work, signal, endsAt } = asked;
    if (isAborted(signal)) throw cancelled(undefined);
    const pool = this.#pool;
    const acquired = (): Promise<Connection> =>
      pool.acquire(text, signal, timeLeft(endsAt), () => noneFree(work)).catch(failUnsent);
    const connection = pool.take(text) ?? (await acquired());
    if (isAborted(signal)) {
      pool.release(connection);
      throw cancelled(undefined);
    }
    const rows = await this.#send(asked, connection);
    return rows ?? (await this.#run(asked));
  }

  #send(asked: StatementRequest, connection: Connection): Promise<readonly Row[] | undefined> {
    const { text } = asked;
    const pool = this.#pool;
    try {
      this.#options.onStatement?.(text);
      return runStatement(asked, {
        connection,
        isWorthPreparing: this.#isWorthPreparing(connection, text),
        cancelling: this.#cancelling,
        timers: this.#timers,
        silenceMs: this.#silenceMs,
        free: (isGood) => (isGood ? pool.release(connection) : pool.discard(connection)),
      });
    } catch (error) {
      // What fails at once has sent nothing, and the connection would never be free.
      pool.release(connection);
      throw error;
    }
  }

  /**
   * Opens a connection, and has it plan what the others run most, so that no statement waits for that: until
   * it is wanted. Behind a pooler it is not known what is prepared under which name.
   */
  async #open(signal: AbortSignal, isWanted: () => boolean): Promise<Connection> {
    if (this.#route.isPooled) return await this.#route.open(signal);
    const withinMs = aheadOf(this.#options.pool);
    return await this.#route.open(signal, (connection) =>
      connection.planAhead(this.#use.usual, { withinMs, isWanted }),
    );
  }

  #isWorthPreparing(connection: Connection, text: string): boolean {
    if (connection.hasPrepared(text)) {
      this.#use.count(text);
      return true;
    }
    if (!this.#route.keepsPrepared) return false;
    const isKnown = this.#seen.has(text);
    this.#seen.set(text, true);
    return isKnown;
  }
}

/** The moment so many milliseconds from now; undefined for 0, which is never. */
function endAfter(timeoutMs = 0): number | undefined {
  return timeoutMs === 0 ? undefined : performance.now() + timeoutMs;
}

/** Undefined is never. */
function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** A function, since the checker takes a property that was read once to stay as it was. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}
