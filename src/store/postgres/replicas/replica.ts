import { must } from "../../../base/assert.ts";
import { errorOf, PembaError } from "../../../base/error.ts";
import { Database, type DatabaseOptions } from "../connect/database.ts";
import { booleanOf, numberOf, type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";

const lookStatement = statementFile("replicas/look.sql");

/** A server that is asked and says nothing for so long is not there. */
const silenceMs = 3_000;

/** Who a server is and how far it has come. */
export interface ServerLook {
  readonly isStandby: boolean;
  readonly place: string;
  /** None while a standby knows of none. */
  readonly timeline: number | undefined;
  /** No two servers have it in common. */
  readonly startedAt: string;
  /** What it has written or replayed of the write-ahead log, in bytes. */
  readonly position: bigint;
  /** Every transaction with a lower id has ended there. */
  readonly reached: bigint;
}

/**
 * Asks a server, and waits for three seconds at most, or until `ending` is aborted. Fails with an
 * error of the table.
 */
export async function lookAt(database: Database, ending?: AbortSignal): Promise<ServerLook> {
  return await unlessSilent(async (signal) => await askAt(database, signal), ending);
}

async function askAt(database: Database, signal: AbortSignal): Promise<ServerLook> {
  const [row] = await database.query(lookStatement, [], signal);
  return lookOf(must(row, "a server has a name"));
}

/**
 * What `ask` resolves to, or UNAVAILABLE after three seconds or with the signal. It does not wait for
 * what it gives up: that ends when the pool ends the connection.
 */
async function unlessSilent<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  ending?: AbortSignal,
): Promise<T> {
  const late = Promise.withResolvers<never>();
  const givenUp = new AbortController();
  const giveUp = (): void => {
    late.reject(silent());
    givenUp.abort();
  };
  const timer = setTimeout(giveUp, silenceMs);
  ending?.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([ask(givenUp.signal), late.promise]);
  } finally {
    clearTimeout(timer);
    ending?.removeEventListener("abort", giveUp);
  }
}

function lookOf(row: Row): ServerLook {
  return {
    isStandby: booleanOf(row, "is_standby"),
    place: textOf(row, "place"),
    timeline: row["timeline"] === null ? undefined : numberOf(row, "timeline"),
    startedAt: textOf(row, "started_at"),
    position: BigInt(textOf(row, "position")),
    reached: BigInt(textOf(row, "reached")),
  };
}

/** The ways to a replica. */
interface Ways {
  readonly database: Database;
  /** Another one, which does not wait behind questions: that many take long is no silence. */
  readonly probe: Database;
}

/** A replica, which may come and go. */
export class Replica {
  readonly #options: DatabaseOptions;
  #ways: Ways | undefined;
  #connecting: Promise<Ways> | undefined;
  #look: ServerLook | undefined;
  #isClosed = false;

  constructor(options: DatabaseOptions) {
    // One that accepts a connection and says nothing must not be waited for longer than for others.
    const connectTimeoutMs = options.pool.connectTimeoutMs || silenceMs;
    this.#options = { ...options, pool: { ...options.pool, connectTimeoutMs } };
  }

  /** What it said when it was last asked; undefined when it did not. */
  get look(): ServerLook | undefined {
    return this.#look;
  }

  /** Through which it is asked; undefined while it has not been there yet. */
  get database(): Database | undefined {
    return this.#ways?.database;
  }

  /**
   * Asks how far it has come. Fails with an error of the table, and gives up what runs there, unless
   * it is because `ending` is aborted.
   */
  async lookAround(ending?: AbortSignal): Promise<ServerLook> {
    try {
      this.#look = await unlessSilent(
        async (signal) => await askAt((await this.#connected()).probe, signal),
        ending,
      );
      return this.#look;
    } catch (error) {
      if (ending?.aborted !== true) this.#lost(errorOf(error));
      throw error;
    }
  }

  /** It is not there: what runs there fails, and what waits to. */
  #lost(error: PembaError): void {
    this.#look = undefined;
    this.#ways?.database.cut(error);
    this.#ways?.probe.cut(error);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#look = undefined;
    // What comes later is closed when it comes.
    await unlessSilent(async () => await this.#connecting).catch(() => undefined);
    if (this.#ways !== undefined) await closeWays(this.#ways);
  }

  async #connected(): Promise<Ways> {
    if (this.#ways !== undefined) return this.#ways;
    this.#connecting ??= connect(this.#options).finally(() => {
      this.#connecting = undefined;
    });
    const ways = await this.#connecting;
    if (this.#isClosed) await closeWays(ways);
    this.#ways ??= ways;
    return ways;
  }
}

/** What fails leaves no connection behind. */
async function connect(options: DatabaseOptions): Promise<Ways> {
  const database = await Database.connect(options);
  try {
    const { url, onStatement } = options;
    const pool = { ...options.pool, maxConnections: 1 };
    const probe = await Database.connect({ url, pool, onStatement, warn: () => {} });
    return { database, probe };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function closeWays({ database, probe }: Ways): Promise<void> {
  await Promise.all([database.close(), probe.close()]);
}

function silent(): PembaError {
  return new PembaError("UNAVAILABLE", `the server did not answer for ${silenceMs / 1000} seconds`);
}
