import { must } from "../../base/assert.ts";
import { PembaError } from "../../base/error.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { booleanOf, numberOf, type Row, textOf } from "./row.ts";
import { statementFile } from "./statement-file.ts";

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

/** Asks a server. Fails with an error of the table. */
export async function lookAt(database: Database): Promise<ServerLook> {
  const row = must((await database.query(lookStatement, []))[0], "a server has a name");
  return lookOf(row);
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

/** A replica, which may come and go. */
export class Replica {
  readonly #options: DatabaseOptions;
  #database: Database | undefined;
  #connecting: Promise<Database> | undefined;
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
    return this.#database;
  }

  /** Asks how far it has come. Fails with an error of the table, and gives up what runs there. */
  async lookAround(): Promise<ServerLook> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(silent()), silenceMs);
    try {
      const looking = this.#connected().then(lookAt);
      this.#look = await Promise.race([looking, late.promise]);
      return this.#look;
    } catch (error) {
      this.lost();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** It is not there, or not fit: what runs there fails. */
  lost(): void {
    this.#look = undefined;
    this.#database?.cut();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#look = undefined;
    await this.#connecting?.catch(() => undefined);
    await this.#database?.close();
  }

  async #connected(): Promise<Database> {
    if (this.#database !== undefined) return this.#database;
    this.#connecting ??= Database.connect(this.#options).finally(() => {
      this.#connecting = undefined;
    });
    const database = await this.#connecting;
    if (this.#isClosed) await database.close();
    this.#database ??= database;
    return database;
  }
}

function silent(): PembaError {
  return new PembaError("UNAVAILABLE", `the server said nothing for ${silenceMs / 1000} seconds`);
}
