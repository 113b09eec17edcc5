import type { Telemetry } from "../../../base/telemetry.ts";
import { BackgroundLoop } from "../../background-loop.ts";
import type { Database } from "../connect/database.ts";
import { textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { filled, type InterfaceNames } from "./interface-names.ts";

const openWritesFile = statementFile("interface/open-writes.sql");

/** How often the server is asked. */
const everyMs = 5_000;

/**
 * Watches for transactions that have written and stay open: they hold back the state that streams and
 * garbage collection reach. Whose they are, and since when, only privileged roles are told. So each one
 * counts from when it was first seen.
 */
export class OpenWrites {
  readonly #database: Database;
  readonly #statement: string;
  readonly #loop: BackgroundLoop;
  /** When each of them was first seen, in milliseconds of the clock of the process. */
  #since: ReadonlyMap<string, number> = new Map();

  constructor(database: Database, names: InterfaceNames, telemetry: Telemetry) {
    this.#database = database;
    this.#statement = filled(openWritesFile, { ...names });
    this.#loop = new BackgroundLoop({
      everyMs,
      work: async (signal) => await this.look(signal),
      // Requests meet the same fault and report it.
      failed: () => {
        this.#since = new Map();
      },
    });
    telemetry.observe("pemba.sql.open.write.age", () => [
      { value: this.ageMs / 1_000, labels: {} },
    ]);
  }

  /** For how long the oldest one has been seen; 0 when there is none. */
  get ageMs(): number {
    const now = performance.now();
    return Math.max(0, ...[...this.#since.values()].map((seen) => now - seen));
  }

  /** Asks the server which ones there are. Fails with an error of the table. */
  async look(signal?: AbortSignal): Promise<void> {
    const rows = await this.#database.query(this.#statement, [], signal);
    const open = rows.map((row) => textOf(row, "holder"));
    const now = performance.now();
    this.#since = new Map(open.map((holder) => [holder, this.#since.get(holder) ?? now]));
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }
}
