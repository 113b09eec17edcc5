import { must } from "../../base/assert.ts";
import type { Database } from "./connect/database.ts";
import { booleanOf, numberOf, textOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";
import { arrayLiteral } from "./connect/value.ts";
import type { SqlInterface } from "./sql-interface/sql-interface.ts";

const markStatement = statementFile("removal/mark.sql");
const pendingStatement = statementFile("removal/pending.sql");
const blocksStatement = statementFile("removal/blocks.sql");
const relationshipsStatement = statementFile("removal/relationships.sql");
const attributesStatement = statementFile("removal/attributes.sql");
const changesStatement = statementFile("removal/changes.sql");
const schemasStatement = statementFile("removal/schemas.sql");
const bundlesStatement = statementFile("removal/bundles.sql");
const doneStatement = statementFile("removal/done.sql");

/** 2 MB of a table with the usual block size: some ten thousand rows at most. */
const blocksPerBatch = 256;
const changesPerBatch = 5_000;

/** A removal that failed is tried again after this long, and when a tenant is deleted. */
const retryAfterMs = 60_000;

/** Whether the last transaction that may write into a deleted tenant has ended is looked at so often. */
const lookAfterMs = 1_000;

/**
 * Removes the rows of deleted tenants, in the background and in batches of bounded size. What one
 * instance leaves undone, the next start of any instance does; several at once do no harm.
 *
 * It waits until every transaction has ended that was open when the tenant was deleted: an application
 * may write in one of them. Until then a vacuum could not give back the room either.
 */
export class TenantRemoval {
  readonly #database: Database;
  readonly #warn: (message: string) => void;
  readonly #sqlInterface: SqlInterface | undefined;
  #running: Promise<void> | undefined;
  #wanted = false;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(database: Database, warn: (message: string) => void, sqlInterface?: SqlInterface) {
    this.#database = database;
    this.#warn = warn;
    this.#sqlInterface = sqlInterface;
  }

  /** There may be rows to remove. Returns at once. */
  start(): void {
    this.#wanted = true;
    if (this.#closed) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Ends after the batch that is under way. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#wanted && !this.#closed) {
      this.#wanted = false;
      try {
        await this.#removePending();
      } catch (error) {
        this.#warn(`the rows of deleted tenants could not be removed yet: ${String(error)}`);
        this.#startAfter(retryAfterMs);
      }
    }
  }

  #startAfter(ms: number): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.start(), ms).unref();
  }

  async #removePending(): Promise<void> {
    // Most of the time there is none, and a write would be for nothing.
    if ((await this.#database.query(pendingStatement, [])).length === 0) return;
    await this.#database.query(markStatement, []);
    const rows = await this.#database.query(pendingStatement, []);
    const quiet = rows.filter((row) => booleanOf(row, "is_quiet"));
    if (quiet.length < rows.length) this.#startAfter(lookAfterMs);
    if (quiet.length === 0) return;
    const numbers = arrayLiteral(quiet.map((row) => textOf(row, "number")));
    // Nothing is written into these tenants any more: later blocks hold none of their rows.
    const [row] = await this.#database.query(blocksStatement, []);
    const blocks = must(row, "a select without a table has one row");
    await this.#walk(relationshipsStatement, numbers, numberOf(blocks, "relationships"));
    await this.#walk(attributesStatement, numbers, numberOf(blocks, "attributes"));
    await this.#removeChanges(numbers);
    await this.#sqlInterface?.removeTenants(numbers);
    for (const statement of [schemasStatement, bundlesStatement, doneStatement]) {
      if (this.#closed) return;
      await this.#database.query(statement, [numbers]);
    }
  }

  async #walk(statement: string, numbers: string, blocks: number): Promise<void> {
    for (let block = 0; block < blocks && !this.#closed; block += blocksPerBatch) {
      const range = [`(${block},0)`, `(${block + blocksPerBatch},0)`];
      await this.#database.query(statement, [numbers, ...range]);
    }
  }

  async #removeChanges(numbers: string): Promise<void> {
    let place: readonly [tenant: string, xid: string, ordinal: number] = ["0", "0", 0];
    while (!this.#closed) {
      const values = [numbers, ...place, changesPerBatch];
      const [row] = await this.#database.query(changesStatement, values);
      const batch = must(row, "a count has one row");
      if (booleanOf(batch, "is_last")) return;
      place = [textOf(batch, "tenant"), textOf(batch, "xid"), numberOf(batch, "ordinal")];
    }
  }
}
