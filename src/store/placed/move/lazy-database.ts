import { Database } from "../../postgres/connect/database.ts";
import type { Row } from "../../postgres/connect/row.ts";
import type { ParameterValue } from "../../postgres/connect/value.ts";
import type { MoveDatabase } from "./notes.ts";

const connectTimeoutMs = 10_000;

/** A database that is connected when it is asked first: what a move needs last may be down until then. */
export class LazyDatabase implements MoveDatabase {
  readonly #url: string;
  readonly #limitMs: number | undefined;
  #connecting: Promise<Database> | undefined;

  /** @param limitMs a statement that takes longer fails with CANCELLED; undefined: none does */
  constructor(url: string, limitMs: number | undefined) {
    this.#url = url;
    this.#limitMs = limitMs;
  }

  async query(
    text: string,
    values: readonly ParameterValue[],
    signal?: AbortSignal,
  ): Promise<readonly Row[]> {
    const database = await this.#connected();
    const limit = this.#limitMs === undefined ? [] : [AbortSignal.timeout(this.#limitMs)];
    const ends = signal === undefined ? limit : [...limit, signal];
    return await database.query(
      text,
      values,
      ends.length === 0 ? undefined : AbortSignal.any(ends),
    );
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    // An attempt that failed has left nothing, and its caller was told.
    await connecting?.then(async (database) => await database.close()).catch(() => undefined);
  }

  async #connected(): Promise<Database> {
    const connecting = (this.#connecting ??= Database.connect({
      url: this.#url,
      pool: { maxConnections: 2, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs },
      // What slows a server down does not matter to one piece of work.
      warn: () => {},
    }));
    try {
      return await connecting;
    } catch (error) {
      if (this.#connecting === connecting) this.#connecting = undefined;
      throw error;
    }
  }
}
