import { must } from "../../../base/assert.ts";
import { PembaError, errorOf } from "../../../base/error.ts";
import { Database, type DatabaseOptions } from "../connect/database.ts";
import { type Row, booleanOf, numberOf, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";

const lookStatement = statementFile("replicas/look.sql");

/** A server that is asked and says nothing for so long is not there. */
const silenceMs = 3_000;

/** Which server it is and how far it has come. */
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

/** The routes to a replica. */
interface Routes {
  readonly database: Database;
  /** Another one, which does not wait behind questions: that many take long is no silence. */
  readonly probe: Database;
}

/** A replica, which may come and go. */
export class Replica {
  readonly #options: DatabaseOptions;
  #routes: Routes | undefined;
  #connecting: Promise<Routes> | undefined;
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
    return this.#routes?.database;
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
    this.#routes?.database.cut(error);
    this.#routes?.probe.cut(error);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#look = undefined;
    // What comes later is closed when it comes.
    await unlessSilent(async () => await this.#connecting).catch(() => undefined);
    if (this.#routes !== undefined) await closeRoutes(this.#routes);
  }

  async #connected(): Promise<Routes> {
    if (this.#routes !== undefined) return this.#routes;
    this.#connecting ??= connect(this.#options).finally(() => {
      this.#connecting = undefined;
    });
    const routes = await this.#connecting;
    if (this.#isClosed) await closeRoutes(routes);
    this.#routes ??= routes;
    return routes;
  }
}

/** What fails leaves no connection behind. */
async function connect(options: DatabaseOptions): Promise<Routes> {
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

async function closeRoutes({ database, probe }: Routes): Promise<void> {
  await Promise.all([database.close(), probe.close()]);
}

function silent(): PembaError {
  return new PembaError("UNAVAILABLE", `the server did not answer for ${silenceMs / 1000} seconds`);
}

/** Where the writer was at a moment. */
interface Sample {
  readonly at: number;
  readonly position: bigint;
}

/** Ten minutes of samples, one a second. */
const samplesMax = 600;

/**
 * How far replicas are behind the writer, by the positions of the writer in time. It needs no clock of a
 * server, and no writes: a replica that has all there is is not behind, however old that is.
 */
export class ReplicationLag {
  readonly #samples: Sample[] = [];
  /** Since when the position of the writer is unknown; undefined while it answers. */
  #blindSince: number | undefined;
  #askedAt = 0;

  /** The writer was at a position of its log then, in milliseconds of any clock. */
  wrote({ at, position }: Sample): void {
    this.#askedAt = at;
    this.#blindSince = undefined;
    if (this.#samples.at(-1)?.position === position) return;
    this.#samples.push({ at, position });
    if (this.#samples.length > samplesMax) this.#samples.shift();
  }

  /** The writer gave no answer: a replica may lack all that came after its last one. */
  saidNothing(): void {
    this.#blindSince = this.#askedAt;
  }

  /** Since when a replica at a position lacks something, or may, in milliseconds; 0 when it does not. */
  of(position: bigint, now: number): number {
    const missing = this.#samples.find((sample) => sample.position > position);
    const since = missing?.at ?? this.#blindSince;
    return since === undefined ? 0 : now - since;
  }
}
