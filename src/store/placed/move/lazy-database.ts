import { Database } from "../../postgres/connect/database.ts";
import type { Row } from "../../postgres/connect/row.ts";
import type { ParameterValue } from "../../postgres/connect/value.ts";
import { namingCluster } from "../naming-cluster.ts";
import type { MoveDatabase } from "./notes.ts";

const connectTimeoutMs = 10_000;

/** Told of a database when it is connected. Fails if it is not the one that is expected. */
export type DatabaseCheck = (database: MoveDatabase) => Promise<void>;

/**
 * The database of a cluster, which is connected when it is asked first: what a move needs last may be down until then.
 * Errors name the cluster.
 */
export class LazyDatabase implements MoveDatabase {
  readonly #cluster: string;
  readonly #url: string;
  readonly #check: DatabaseCheck;
  readonly #limitMs: number | undefined;
  #connecting: Promise<Database> | undefined;

  constructor(options: {
    readonly cluster: string;
    readonly url: string;
    readonly check: DatabaseCheck;
    /** A statement that takes longer fails with CANCELLED; undefined: none does. */
    readonly limitMs: number | undefined;
  }) {
    this.#cluster = options.cluster;
    this.#url = options.url;
    this.#check = options.check;
    this.#limitMs = options.limitMs;
  }

  async query(
    text: string,
    values: readonly ParameterValue[],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    const database = await this.connected();
    const limit = this.#limitMs === undefined ? [] : [AbortSignal.timeout(this.#limitMs)];
    const ends = signal === undefined ? limit : [...limit, signal];
    const end = ends.length === 0 ? undefined : AbortSignal.any(ends);
    return await namingCluster(this.#cluster, async () => await database.query(text, values, end));
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    // An attempt that failed has left nothing, and its caller was told.
    await connecting?.then(async (database) => await database.close()).catch(() => undefined);
  }

  /** Connects to it, if it is not connected. */
  async connected(): Promise<Database> {
    const connecting = (this.#connecting ??= this.#connect());
    try {
      return await connecting;
    } catch (error) {
      if (this.#connecting === connecting) this.#connecting = undefined;
      throw error;
    }
  }

  async #connect(): Promise<Database> {
    const database = await namingCluster(
      this.#cluster,
      async () =>
        await Database.connect({
          url: this.#url,
          pool: { maxConnections: 2, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs },
          // What slows a server down does not matter to one piece of work.
          warn: () => {},
        }),
    );
    try {
      await this.#check(database);
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  }
}
