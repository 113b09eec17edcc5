import { setTimeout as wait } from "node:timers/promises";

import { assert, must } from "../../../base/assert.ts";
import { outsideRequests } from "../../../base/async-context.ts";
import { errorOf, PembaError } from "../../../base/error.ts";
import { Notifier } from "../../notifier.ts";
import type { Database } from "../connect/database.ts";
import { type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { arrayLiteral } from "../connect/value.ts";
import {
  type ServerState,
  type Snapshot,
  printSnapshot,
  serverState,
  shownSince,
} from "../token/snapshot.ts";

const pollStatement = statementFile("changes/poll.sql");

/** After a poll that found something the next one comes soon, and then later each time. */
const shortestWaitMs = 100;
const longestWaitMs = 1_000;

/** Even if writers wake the poller again and again, it polls no more often than this. */
const restMs = 10;

/** After a poll that takes long, of a busy database, come so many times as long without one. */
const restFactor = 9;

/** That a tenant is gone is looked for no more often than this: it takes a look at every one. */
const goneLookMs = 1_000;

/** A state of the database that the poller has come to. */
export interface Step {
  readonly number: number;
  readonly state: ServerState;
}

/** A tenant with streams. */
interface Followed {
  followers: number;
  /** The last step on which something of it may have changed. */
  changedAt: number;
  isGone: boolean;
}

/**
 * Goes from state to state of the database, and finds out which of the followed tenants changed between
 * them. A step is one statement for all streams and tenants. It ends with the last stream, and with the
 * first fault.
 */
export class ChangePoller {
  readonly #database: Database;
  readonly #followed = new Map<string, Followed>();
  readonly #stepped = new Notifier();
  readonly #running: Promise<void>;
  #step: Step;
  #fault: PembaError | undefined;
  #isOver = false;
  #isWoken = false;
  #sleep = new AbortController();
  /** How long the last poll took. */
  #pollMs = 0;
  #lookedForGoneAt = -Infinity;

  /** Begins at the present state. A stream must join before the next await. */
  constructor(database: Database, state: ServerState) {
    this.#database = database;
    this.#step = { number: 1, state };
    this.#running = outsideRequests(() => this.#run());
  }

  /** No stream can join any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get step(): Step {
    return this.#step;
  }

  /** Begins to follow a tenant, by its number. Returns what ends that. */
  join(tenant: string): () => void {
    const followed = this.#followed.get(tenant) ?? {
      followers: 0,
      changedAt: this.#step.number,
      isGone: false,
    };
    // A move may have hidden the tenant, and was taken back: a stream begins only where the tenant is there.
    followed.isGone = false;
    followed.followers++;
    this.#followed.set(tenant, followed);
    return () => {
      followed.followers--;
      if (followed.followers > 0) return;
      this.#followed.delete(tenant);
      this.wake();
    };
  }

  /** Something may have changed: the next step comes at once. */
  wake(): void {
    this.#isWoken = true;
    this.#sleep.abort();
  }

  /**
   * The present step once it comes after `last`; undefined when the signal is aborted first. Fails
   * when the poller has.
   */
  async stepAfter(last: Step, signal: AbortSignal): Promise<Step | undefined> {
    for (;;) {
      if (signal.aborted) return undefined;
      if (this.#fault !== undefined) throw this.#fault;
      if (this.#step.number > last.number) return this.#step;
      await this.#stepped.notified(signal);
    }
  }

  /** What a tenant has gone through since a step: for one that is followed. */
  since(tenant: string, { number }: Step): "gone" | "changed" | "unchanged" {
    const { isGone, changedAt } = must(this.#followed.get(tenant), "the tenant is followed");
    if (isGone) return "gone";
    return changedAt > number ? "changed" : "unchanged";
  }

  /** Fails all streams, and resolves when no statement runs any more. */
  async end(fault: PembaError): Promise<void> {
    this.#fault ??= fault;
    this.#stepped.notify();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    let pause = shortestWaitMs;
    try {
      for (;;) {
        await this.#rest(pause);
        if (this.#followed.size === 0 || this.#fault !== undefined) return;
        const begun = performance.now();
        const hasChanged = await this.#poll();
        this.#pollMs = performance.now() - begun;
        pause = hasChanged ? shortestWaitMs : Math.min(2 * pause, longestWaitMs);
      }
    } catch (error) {
      this.#fault ??= errorOf(error);
    } finally {
      this.#isOver = true;
      this.#stepped.notify();
    }
  }

  async #rest(pause: number): Promise<void> {
    await wait(Math.min(Math.max(restFactor * this.#pollMs, restMs), longestWaitMs));
    if (!this.#isWoken) {
      await wait(pause, undefined, { signal: this.#sleep.signal }).catch(() => undefined);
    }
    this.#isWoken = false;
    this.#sleep = new AbortController();
  }

  /** Makes a step, and resolves to whether anything that is followed changed. */
  async #poll(): Promise<boolean> {
    const { number, state: last } = this.#step;
    const rows = await this.#database.read(pollStatement, [
      printSnapshot(last.snapshot),
      arrayLiteral(this.#toLookFor()),
    ]);
    const row = must(rows[0], "an installation has a row");
    const state = serverState(row);
    if (state.place !== last.place || state.timeline !== last.timeline) {
      throw failedOver();
    }
    const isKept = isInHistory(last.snapshot, state.snapshot, row);
    const [changed, gone] = [numbersOf(row["changed"]), numbersOf(row["gone"])];
    this.#step = { number: number + 1, state };
    let hasChanged = false;
    for (const [tenant, followed] of this.#followed) {
      if (gone.has(tenant)) followed.isGone = true;
      if (isKept && !changed.has(tenant)) continue;
      followed.changedAt = this.#step.number;
      hasChanged ||= isKept;
    }
    this.#stepped.notify();
    return hasChanged;
  }

  #toLookFor(): readonly string[] {
    const now = performance.now();
    if (now - this.#lookedForGoneAt < goneLookMs) return [];
    this.#lookedForGoneAt = now;
    return [...this.#followed.keys()];
  }
}

function numbersOf(json: unknown): ReadonlySet<unknown> {
  assert(Array.isArray(json), "numbers of tenants are a list");
  return new Set<unknown>(json);
}

/** Whether the log still has all that changed between two states: else it may lack a change. */
function isInHistory(last: Snapshot, next: Snapshot, row: Row): boolean {
  const [first] = shownSince(last, next);
  return first === undefined || first.start >= BigInt(textOf(row, "horizon"));
}

/**
 * Ids of transactions may have another meaning from here on: the token with which a stream is taken
 * up again is looked at anew.
 */
export function failedOver(): PembaError {
  return new PembaError("UNAVAILABLE", "the database has failed over, retry with the last token");
}
