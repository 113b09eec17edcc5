import { randomUUID } from "node:crypto";

import { must } from "../../base/assert.ts";
import { outsideRequests } from "../../base/async-context.ts";
import { reasonOf } from "../../base/error.ts";
import { pause } from "../../base/pause.ts";
import { nextSize, restAfter } from "../pace.ts";
import type { Database } from "./connect/database.ts";
import { booleanOf, numberOf, textOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";
import { arrayLiteral } from "./connect/value.ts";
import type { SqlInterface } from "./sql-interface/sql-interface.ts";

const claimStatement = statementFile("removal/claim.sql");
const releaseStatement = statementFile("removal/release.sql");
const markStatement = statementFile("removal/mark.sql");
const pendingStatement = statementFile("removal/pending.sql");
const blocksStatement = statementFile("removal/blocks.sql");
const relationshipsStatement = statementFile("removal/relationships.sql");
const attributesStatement = statementFile("removal/attributes.sql");
const changesStatement = statementFile("removal/changes.sql");
const schemasStatement = statementFile("removal/schemas.sql");
const bundlesStatement = statementFile("removal/bundles.sql");
const doneStatement = statementFile("removal/done.sql");

/** From 64 kB to 2 MB of a table with the usual block size: some ten thousand rows at most. */
const blockSizes = { min: 8, max: 256 };
const changeSizes = { min: 500, max: 5_000 };

/** What other processes leave is looked for so often. */
const usualLookEveryMs = 60_000;

/** Whether the last transaction that may write into a deleted tenant has ended is looked at so often. */
const lookAfterMs = 1_000;

/** A removal that failed is tried again after this long, and after twice as long each time. */
const retryFirstMs = 1_000;
const retryMaxMs = 60_000;

/** The process that removes gives a sign so often. One without a sign for longer than the lease is gone. */
const signEveryMs = 3_000;
const leaseMs = 15_000;

export interface RemovalOptions {
  readonly database: Pick<Database, "query">;
  /** Called when a removal fails, and not again until one has not. */
  readonly warn: (message: string) => void;
  readonly sqlInterface?: SqlInterface | undefined;
  readonly lookEveryMs?: number;
}

/**
 * Removes the rows of deleted tenants and of those that have moved away, in the background and in batches that leave
 * room for requests. One process at a time does so for a database. What it leaves undone, others that run go on with.
 *
 * It waits until every transaction has ended that was open when the tenant was deleted: an application
 * may write in one of them. Until then a vacuum could not give back the room either.
 */
export class TenantRemoval {
  readonly #database: Pick<Database, "query">;
  readonly #warn: (message: string) => void;
  readonly #sqlInterface: SqlInterface | undefined;
  readonly #lookEveryMs: number;
  readonly #id = randomUUID();
  readonly #closing = new AbortController();
  /** Ends the wait for the next look. */
  #wake = new AbortController();
  #running: Promise<void> | undefined;
  /** When the last sign of this process was given, while it is the one that removes. */
  #signAt = Number.NEGATIVE_INFINITY;

  constructor({ database, warn, sqlInterface, lookEveryMs = usualLookEveryMs }: RemovalOptions) {
    this.#database = database;
    this.#warn = warn;
    this.#sqlInterface = sqlInterface;
    this.#lookEveryMs = lookEveryMs;
  }

  /** There may be rows to remove, now or later. Returns at once. */
  start(): void {
    this.#wake.abort();
    this.#running ??= outsideRequests(() => this.#run());
  }

  /** Ends after the batch that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    if (this.#signAt === Number.NEGATIVE_INFINITY) return;
    try {
      await this.#database.query(releaseStatement, [this.#id]);
    } catch (error) {
      this.#warn(
        `another process goes on with deleted tenants in ${leaseMs} ms: ${reasonOf(error)}`,
      );
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted;) {
      this.#wake = new AbortController();
      const wake = AbortSignal.any([signal, this.#wake.signal]);
      try {
        const waitMs = await this.#removePending();
        failures = 0;
        await pause(waitMs, wake);
      } catch (error) {
        if (failures === 0) {
          this.#warn(`the rows of deleted tenants could not be removed yet: ${reasonOf(error)}`);
        }
        await pause(Math.min(retryFirstMs * 2 ** failures, retryMaxMs), wake);
        failures++;
      }
    }
  }

  /** Resolves to how long to wait for the next look. */
  async #removePending(): Promise<number> {
    // Most of the time there is none, and a write would be for nothing.
    if ((await this.#database.query(pendingStatement, [])).length === 0) return this.#lookEveryMs;
    if (!(await this.#claim())) return this.#lookEveryMs;
    await this.#database.query(markStatement, []);
    const rows = await this.#database.query(pendingStatement, []);
    const quiet = rows.filter((row) => booleanOf(row, "is_quiet"));
    if (quiet.length === 0) return lookAfterMs;
    const isDone = await this.#remove(arrayLiteral(quiet.map((row) => textOf(row, "number"))));
    if (!isDone) return this.#lookEveryMs;
    // There may be more by now.
    return quiet.length < rows.length ? lookAfterMs : 0;
  }

  /** Resolves to false if another process goes on with it, or this one ends. */
  async #remove(numbers: string): Promise<boolean> {
    if (!(await this.#removeFacts(numbers)) || !(await this.#removeChanges(numbers))) return false;
    await this.#sqlInterface?.removeTenants(numbers);
    for (const statement of [schemasStatement, bundlesStatement]) {
      const tookMs = await this.#timed(async () => {
        await this.#database.query(statement, [numbers]);
      });
      if (!(await this.#restAfter(tookMs))) return false;
    }
    await this.#database.query(doneStatement, [numbers]);
    // Those that come now have no remover.
    this.#signAt = Number.NEGATIVE_INFINITY;
    return true;
  }

  async #removeFacts(numbers: string): Promise<boolean> {
    for (let files = ""; ;) {
      const [row] = await this.#database.query(blocksStatement, []);
      const blocks = must(row, "a select without a table has one row");
      if (textOf(blocks, "files") === files) return true;
      // Nothing is written into these tenants any more: later blocks hold none of their rows.
      files = textOf(blocks, "files");
      for (const [statement, count] of [
        [relationshipsStatement, numberOf(blocks, "relationships")],
        [attributesStatement, numberOf(blocks, "attributes")],
      ] as const) {
        if (!(await this.#walk(statement, numbers, count))) return false;
      }
    }
  }

  async #walk(statement: string, numbers: string, blocks: number): Promise<boolean> {
    let size = blockSizes.min;
    for (let block = 0; block < blocks;) {
      const end = block + size;
      const tookMs = await this.#timed(async () => {
        await this.#database.query(statement, [numbers, `(${block},0)`, `(${end},0)`]);
      });
      if (!(await this.#restAfter(tookMs))) return false;
      block = end;
      size = nextSize(size, tookMs, blockSizes);
    }
    return true;
  }

  async #removeChanges(numbers: string): Promise<boolean> {
    let size = changeSizes.min;
    let place: readonly [tenant: string, xid: string, ordinal: number] = ["0", "0", 0];
    for (let isLast = false; !isLast;) {
      const tookMs = await this.#timed(async () => {
        const [row] = await this.#database.query(changesStatement, [numbers, ...place, size]);
        const batch = must(row, "a count has one row");
        isLast = booleanOf(batch, "is_last");
        if (isLast) return;
        place = [textOf(batch, "tenant"), textOf(batch, "xid"), numberOf(batch, "ordinal")];
      });
      if (!(await this.#restAfter(tookMs))) return false;
      size = nextSize(size, tookMs, changeSizes);
    }
    return true;
  }

  /** Resolves to the milliseconds that the work took. */
  async #timed(work: () => Promise<void>): Promise<number> {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  }

  /** Resolves to false if the removal is not to go on. */
  async #restAfter(tookMs: number): Promise<boolean> {
    const { signal } = this.#closing;
    await pause(restAfter(tookMs), signal);
    return !signal.aborted && (await this.#claim());
  }

  /** Gives a sign if it is time for one. Resolves to false if another process removes. */
  async #claim(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#signAt < signEveryMs) return true;
    const claimed = await this.#database.query(claimStatement, [this.#id, leaseMs]);
    this.#signAt = claimed.length > 0 ? now : Number.NEGATIVE_INFINITY;
    return claimed.length > 0;
  }
}
