import { LRUCache } from "lru-cache";

import { must } from "../../../base/assert.ts";
import { cancelled, PembaError } from "../../../base/error.ts";
import { noTelemetry, type Telemetry } from "../../../base/telemetry.ts";
import { timerMs } from "../../../base/timer.ts";
import { Cancelling } from "./cancelling.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { backendOf, cancel, type Connection, type Greeting, rowsOf } from "./connection.ts";
import { faultOf, isCancelled, storageError, unknownOutcome } from "./driver-error.ts";
import { openWay, type Way } from "./open-way.ts";
import { type PoolOptions, silenceOf } from "./pool-options.ts";
import { Pool, type PoolState } from "./pool.ts";
import { repeatOn } from "./repeat.ts";
import type { Row } from "./row.ts";
import { tellStatement } from "./tell-statement.ts";
import type { Value } from "./value.ts";

export interface DatabaseOptions {
  /** With several hosts the first that takes writes. */
  readonly url: string;
  readonly pool: PoolOptions;
  readonly warn: (message: string) => void;
  /** How often `read` and `write` repeat a statement; never when absent. */
  readonly maxRetries?: number | undefined;
  /**
   * After so many milliseconds a statement of `read` is given up, and cancelled where it runs; the wait
   * for a connection counts. Absent or 0: never.
   */
  readonly readTimeoutMs?: number | undefined;
  /** Without one, each statement of `read` and `write` finds out for itself that the server is gone. */
  readonly circuit?: CircuitBreaker | undefined;
  /** Called with every statement that goes to the server, as it goes. */
  readonly onStatement?: ((text: string) => void) | undefined;
  /** Told which server connections lead to, whenever one of them is asked. */
  readonly onGreeted?: ((greeting: Greeting) => void) | undefined;
  readonly telemetry?: Telemetry | undefined;
}

/** A text is prepared when it comes again: what is asked once is not worth its place. */
const rememberedTextsMax = 2000;
const rememberedCharactersMax = 20_000_000;

/** How long connections have to finish what they run when the pool closes. */
const closeTimeoutMs = 5_000;

/** The only way to the server: a pool of connections, prepared statements, errors of the table. */
export class Database {
  readonly #options: DatabaseOptions;
  readonly #way: Way;
  readonly #pool: Pool;
  readonly #seen = new LRUCache<string, true>({
    max: rememberedTextsMax,
    maxSize: rememberedCharactersMax,
    sizeCalculation: (_, text) => 1 + text.length,
  });
  readonly #cancelling = new Cancelling();
  readonly #telemetry: Telemetry;

  #greeting: Greeting;

  private constructor(options: DatabaseOptions, way: Way, greeting: Greeting) {
    this.#options = options;
    this.#telemetry = options.telemetry ?? noTelemetry;
    this.#way = way;
    this.#greeting = greeting;
    this.#pool = new Pool(options.pool, way.open);
    this.#pool.adopt(way.first);
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
    const way = await openWay({ url, timeoutMs: pool.connectTimeoutMs, onGreeted, warn });
    database = new Database(options, way, must(last, "a server that is open has greeted"));
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

  /** A pooler stands before the server: a session is not the same one from statement to statement. */
  get isPooled(): boolean {
    return this.#way.isPooled;
  }

  /**
   * Runs one statement, which is a transaction of its own. Values are $1, $2 ... The signal cancels
   * the statement on the server; then it fails with CANCELLED.
   */
  async query(
    text: string,
    values: readonly Value[],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    return await this.#told({ text, values, signal, endsAt: undefined });
  }

  /** A statement that changes nothing: it is repeated whenever another try may get an answer. */
  async read(
    text: string,
    values: readonly Value[],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    const { maxRetries = 0, readTimeoutMs = 0 } = this.#options;
    return await this.#guarded(() =>
      repeatOn(
        ["conflict", "unreached", "lost"],
        maxRetries,
        () => this.#told({ text, values, signal, endsAt: endAfter(readTimeoutMs) }),
        (fault) => this.#telemetry.add("db.client.retries", 1, { fault }),
      ),
    );
  }

  /**
   * A statement that changes something: it is repeated only when nothing of it was done. When that
   * is not known, it fails with UNAVAILABLE and says so.
   */
  async write(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    const { maxRetries = 0 } = this.#options;
    try {
      return await this.#guarded(() =>
        repeatOn(
          ["conflict", "unreached"],
          maxRetries,
          () => this.query(text, values),
          (fault) => this.#telemetry.add("db.client.retries", 1, { fault }),
        ),
      );
    } catch (error) {
      const fault = faultOf(error);
      throw fault === "lost" || fault === "closing" ? unknownOutcome(error) : error;
    }
  }

  /**
   * Ends all connections at once: what runs fails. New ones are made when they are needed, as by who
   * waits for one, unless there is a reason not to wait, with which these fail.
   */
  cut(whyNotWait?: PembaError): void {
    this.#pool.cut(whyNotWait);
  }

  /** Waits for what runs, for a few seconds, and ends all connections. */
  async close(): Promise<void> {
    await this.#pool.close(closeTimeoutMs);
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    const { circuit } = this.#options;
    return circuit === undefined ? await work() : await circuit.run(work);
  }

  async #told(asked: Asked): Promise<readonly Row[]> {
    return this.#telemetry.isOn
      ? await tellStatement(this.#telemetry, asked.text, async () => await this.#run(asked))
      : await this.#run(asked);
  }

  async #run(asked: Asked): Promise<readonly Row[]> {
    if (isAborted(asked.signal)) throw cancelled(undefined);
    const { signal, endsAt } = asked;
    const connection = this.#pool.take() ?? (await this.#pool.acquire(signal, timeLeft(endsAt)));
    try {
      const rows = await this.#runOn(connection, asked);
      this.#pool.release(connection);
      if (rows !== undefined) return rows;
    } catch (error) {
      // After a statement that failed for a reason of its own the connection is as good as before.
      const known = storageError(error);
      if (known.kind === "unavailable") this.#pool.discard(connection);
      else this.#pool.release(connection);
      throw known;
    }
    return await this.#run(asked);
  }

  /** Undefined when it was hit by a cancellation that was meant for another one and came too late. */
  async #runOn(
    connection: Connection,
    { text, values, signal, endsAt }: Asked,
  ): Promise<readonly Row[] | undefined> {
    this.#options.onStatement?.(text);
    const sent = connection.send(text, values, this.#isWorthPreparing(connection, text));
    let isLate = false;
    let isDead: NodeJS.Timeout | undefined;
    const giveUp = (): void => {
      this.#cancelling.sent(backendOf(sent));
      cancel(sent);
      isDead ??= setTimeout(() => void connection.close(), silenceOf(this.#options.pool));
    };
    const end = (): void => {
      isLate = true;
      giveUp();
    };
    signal?.addEventListener("abort", giveUp, { once: true });
    const timer = endsAt === undefined ? undefined : setTimeout(end, timeLeft(endsAt));
    try {
      return await rowsOf(sent);
    } catch (thrown) {
      const error = storageError(thrown);
      const isOurs = isCancelled(error) && this.#cancelling.hit(backendOf(sent));
      if (isAborted(signal)) throw cancelled(error);
      if (isOurs && !isLate) return undefined;
      throw isLate ? tookTooLong(error) : error;
    } finally {
      clearTimeout(timer);
      clearTimeout(isDead);
      signal?.removeEventListener("abort", giveUp);
    }
  }

  #isWorthPreparing(connection: Connection, text: string): boolean {
    if (connection.hasPrepared(text)) return true;
    if (!this.#way.keepsPrepared) return false;
    const isKnown = this.#seen.has(text);
    this.#seen.set(text, true);
    return isKnown;
  }
}

/** A statement to be run. */
interface Asked {
  readonly text: string;
  readonly values: readonly Value[];
  readonly signal: AbortSignal | undefined;
  /** By the clock of `performance`; undefined: when it is done. */
  readonly endsAt: number | undefined;
}

/** The moment so many milliseconds from now; undefined for 0, which is never. */
function endAfter(timeoutMs: number): number | undefined {
  return timeoutMs === 0 ? undefined : performance.now() + timeoutMs;
}

/** In milliseconds as a timer takes them, at least one; 0: without end. */
function timeLeft(endsAt: number | undefined): number {
  return endsAt === undefined ? 0 : timerMs(Math.max(1, endsAt - performance.now()));
}

function tookTooLong(cause: unknown): PembaError {
  const sentence = "the database took too long (`database.read_timeout`)";
  return new PembaError("DEADLINE_EXCEEDED", sentence, { cause });
}

/** A function, since the checker takes a property that was read once to stay as it was. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}
