import { LRUCache } from "lru-cache";
import postgres from "postgres";

import { must } from "../../base/assert.ts";
import { cancelled, PembaError } from "../../base/error.ts";
import { Cancelling } from "./cancelling.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import {
  faultOf,
  isCancelled,
  refusesStartParameters,
  storageError,
  unknownOutcome,
} from "./driver-error.ts";
import { repeatOn } from "./repeat.ts";
import { numberOf, type Row, textOf } from "./row.ts";
import { sessionSettings } from "./session-settings.ts";

export interface PoolOptions {
  readonly maxConnections: number;
  /** For all three 0 means: for as long as it takes. */
  readonly idleTimeoutMs: number;
  readonly maxLifetimeMs: number;
  readonly connectTimeoutMs: number;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly pool: PoolOptions;
  readonly warn: (message: string) => void;
  /** How often `read` and `write` repeat a statement; never when absent. */
  readonly maxRetries?: number | undefined;
  /** Without one, each statement of `read` and `write` finds out for itself that the server is gone. */
  readonly circuit?: CircuitBreaker | undefined;
  /** Called with every statement that goes to the server, as it goes. */
  readonly onStatement?: ((text: string) => void) | undefined;
  /** Called when a connection ends, for whatever reason: the next one may reach another server. */
  readonly onConnectionClosed?: (() => void) | undefined;
}

/** Json goes as text with the cast `::text::jsonb`, an array as `arrayLiteral` with `::text[]`. */
export type Value = string | number | boolean | null;

/**
 * A prepared statement costs memory in every connection, for as long as that lives. Texts get their
 * turn anew with every generation of connections, so those of a schema that is gone free the place.
 */
const preparedTextsMax = 500;

/** A text is prepared when it comes again: what is asked once is not worth a place. */
const rememberedTextsMax = 2000;

const oldestServer = 140_000;

/** How long a connection has to finish what it runs when the pool closes. */
const closeTimeoutSeconds = 5;

/** Another try to connect comes after at most this long: requests wait for it. */
const reconnectDelayMaxSeconds = 1;

/** The only way to the server: a pool of connections, prepared statements, errors of the table. */
export class Database {
  readonly #sql: postgres.Sql;
  readonly #prepared = new Set<string>();
  readonly #seenOnce = new LRUCache<string, true>({ max: rememberedTextsMax });
  readonly #cancelling = new Cancelling();
  readonly #circuit: CircuitBreaker | undefined;
  readonly #maxRetries: number;
  readonly #generationMs: number;
  #generationEndMs: number;

  private constructor(options: DatabaseOptions, settings: Readonly<Record<string, string>>) {
    this.#sql = openPool(options, settings);
    this.#circuit = options.circuit;
    this.#maxRetries = options.maxRetries ?? 0;
    const { maxLifetimeMs } = options.pool;
    this.#generationMs = maxLifetimeMs === 0 ? Number.POSITIVE_INFINITY : maxLifetimeMs;
    this.#generationEndMs = performance.now() + this.#generationMs;
  }

  /**
   * Opens a pool and asks the server for its version. Where the session settings are refused (by a
   * pooler) it works without them. Fails with UNAVAILABLE, or MIGRATION when the server is too old.
   */
  static async connect(options: DatabaseOptions): Promise<Database> {
    try {
      return await Database.#connectWith(options, sessionSettings);
    } catch (error) {
      if (!(error instanceof PembaError) || !refusesStartParameters(error.cause)) throw error;
    }
    const database = await Database.#connectWith(options, {});
    const settings = Object.entries(sessionSettings).map(([name, value]) => `${name}=${value}`);
    options.warn(
      "the database refuses settings at the start of a connection (a pooler does): answers stay " +
        `right, but they are only fast with these set for the role: ${settings.join(", ")}`,
    );
    return database;
  }

  static async #connectWith(
    options: DatabaseOptions,
    settings: Readonly<Record<string, string>>,
  ): Promise<Database> {
    const database = new Database(options, settings);
    try {
      await refuseOldServer(database);
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
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
    if (isAborted(signal)) throw cancelled(undefined);
    // Without `simple: false` the driver sends a statement that has no values unprepared.
    const options = { prepare: this.#mayPrepare(text), simple: false };
    const query = this.#sql.unsafe<Row[]>(text, [...values], options);
    const cancel = (): void => {
      this.#cancelling.sent(query);
      // Declared as void, it is a promise, which fails when the server cannot be reached.
      const sent: unknown = query.cancel();
      Promise.resolve(sent).catch(() => undefined);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return whole(await query);
    } catch (error) {
      const known = storageError(error);
      const isOurs = isCancelled(known) && this.#cancelling.hit(query);
      if (isAborted(signal)) throw cancelled(error);
      if (!isOurs) throw known;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
    // It was meant for a statement that had ended before it came.
    return await this.query(text, values, signal);
  }

  /** A statement that changes nothing: it is repeated whenever another try may get an answer. */
  async read(
    text: string,
    values: readonly Value[],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    return await this.#guarded(() =>
      repeatOn(["conflict", "unreached", "lost"], this.#maxRetries, () =>
        this.query(text, values, signal),
      ),
    );
  }

  /**
   * A statement that changes something: it is repeated only when nothing of it was done. When that
   * is not known, it fails with UNAVAILABLE and says so.
   */
  async write(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    try {
      return await this.#guarded(() =>
        repeatOn(["conflict", "unreached"], this.#maxRetries, () => this.query(text, values)),
      );
    } catch (error) {
      const fault = faultOf(error);
      throw fault === "lost" || fault === "closing" ? unknownOutcome(error) : error;
    }
  }

  /** Waits for what runs, for a few seconds, and ends all connections. */
  async close(): Promise<void> {
    await this.#sql.end({ timeout: closeTimeoutSeconds });
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    return this.#circuit === undefined ? await work() : await this.#circuit.run(work);
  }

  #mayPrepare(text: string): boolean {
    if (this.#prepared.has(text)) return true;
    if (!this.#seenOnce.has(text)) {
      this.#seenOnce.set(text, true);
      return false;
    }
    if (this.#prepared.size >= preparedTextsMax) {
      const now = performance.now();
      if (now < this.#generationEndMs) return false;
      this.#generationEndMs = now + this.#generationMs;
      this.#prepared.clear();
    }
    this.#prepared.add(text);
    return true;
  }
}

/**
 * The driver counts the rows of an answer on from where the loss of a connection broke one off: what
 * comes next over that connection begins with as many holes.
 */
function whole(rows: readonly Row[]): readonly Row[] {
  return rows.length === 0 || 0 in rows ? rows : rows.filter(() => true);
}

/** A function, since the checker takes a property that was read once to stay as it was. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}

/**
 * A statement waits for a free connection and not behind a slow one: when a connection ends that has
 * several of them, the driver may never settle the later ones. Its types lack the option.
 */
const oneAtATime = { max_pipeline: 0 };

function openPool(
  { url, pool, onStatement, onConnectionClosed }: DatabaseOptions,
  settings: Readonly<Record<string, string>>,
): postgres.Sql {
  return postgres(url, {
    max: pool.maxConnections,
    idle_timeout: pool.idleTimeoutMs / 1000,
    max_lifetime: pool.maxLifetimeMs / 1000,
    connect_timeout: pool.connectTimeoutMs / 1000,
    ...oneAtATime,
    backoff: (retries) => Math.min(2 ** retries / 100, reconnectDelayMaxSeconds),
    // Asking for the types of arrays would be a query for each connection: arrays are text here.
    fetch_types: false,
    onnotice: () => {},
    ...(onStatement === undefined ? {} : { debug: (_connection, text) => onStatement(text) }),
    ...(onConnectionClosed === undefined ? {} : { onclose: onConnectionClosed }),
    connection: { application_name: "pemba", ...settings },
  });
}

async function refuseOldServer(database: Database): Promise<void> {
  const [row] = await database.query(
    `select current_setting('server_version') as version,
       current_setting('server_version_num')::integer as number`,
    [],
  );
  const version = must(row, "a select without a table has one row");
  if (numberOf(version, "number") >= oldestServer) return;
  throw new PembaError(
    "MIGRATION",
    `the database is Postgres ${textOf(version, "version")}, expected 14 or newer`,
  );
}
