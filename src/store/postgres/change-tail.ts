import { setTimeout as wait } from "node:timers/promises";

import { must } from "../../base/assert.ts";
import { errorOf, PembaError } from "../../base/error.ts";
import { Bell } from "../bell.ts";
import { arrayLiteral } from "./array-literal.ts";
import type { Database } from "./database.ts";
import { booleanOf, type Row, textOf } from "./row.ts";
import { type ServerState, serverState } from "./server-state.ts";
import { printSnapshot, shownSince, type Snapshot } from "./snapshot.ts";
import { statementFile } from "./statement-file.ts";

const pollStatement = statementFile("changes/poll.sql");

/** After a poll that found something the next one comes soon, and then later each time. */
const shortestWaitMs = 100;
const longestWaitMs = 1_000;

/** Whoever is woken again and again by writers polls no more often than this. */
const restMs = 10;

/** A state of the database that the tail has come to. */
export interface Step {
  readonly number: number;
  readonly state: ServerState;
}

/** A tenant that somebody follows. */
interface Followed {
  followers: number;
  /** The last step on which something of it may have changed. */
  changedAt: number;
  isGone: boolean;
}

/**
 * Goes from state to state of the database, and knows for each tenant that is followed whether
 * anything of it changed on the way: however many follow however many tenants, a step is one
 * statement. It ends when nobody follows any more, and with the first fault.
 */
export class ChangeTail {
  readonly #database: Database;
  readonly #followed = new Map<string, Followed>();
  readonly #stepped = new Bell();
  readonly #running: Promise<void>;
  #step: Step;
  #fault: PembaError | undefined;
  #isOver = false;
  #isWoken = false;
  #sleep = new AbortController();

  /** Begins at a present state; somebody must join before anything else is waited for. */
  constructor(database: Database, state: ServerState) {
    this.#database = database;
    this.#step = { number: 1, state };
    this.#running = this.#run();
  }

  /** Nobody can join any more. */
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
   * when the tail has.
   */
  async stepAfter(last: Step, signal: AbortSignal): Promise<Step | undefined> {
    for (;;) {
      if (signal.aborted) return undefined;
      if (this.#fault !== undefined) throw this.#fault;
      if (this.#step.number > last.number) return this.#step;
      await this.#stepped.heard(signal);
    }
  }

  /** What a tenant has gone through since a step: for one that is followed. */
  since(tenant: string, { number }: Step): "gone" | "changed" | "unchanged" {
    const { isGone, changedAt } = must(this.#followed.get(tenant), "the tenant is followed");
    if (isGone) return "gone";
    return changedAt > number ? "changed" : "unchanged";
  }

  /** Fails whoever follows, and resolves when nothing is under way any more. */
  async end(fault: PembaError): Promise<void> {
    this.#fault ??= fault;
    this.#stepped.ring();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    let pause = shortestWaitMs;
    try {
      for (;;) {
        await this.#rest(pause);
        if (this.#followed.size === 0 || this.#fault !== undefined) return;
        const hasChanged = await this.#poll();
        pause = hasChanged ? shortestWaitMs : Math.min(2 * pause, longestWaitMs);
      }
    } catch (error) {
      this.#fault ??= errorOf(error);
    } finally {
      this.#isOver = true;
      this.#stepped.ring();
    }
  }

  async #rest(pause: number): Promise<void> {
    await wait(restMs);
    if (!this.#isWoken) {
      await wait(pause, undefined, { signal: this.#sleep.signal }).catch(() => undefined);
    }
    this.#isWoken = false;
    this.#sleep = new AbortController();
  }

  /** Makes a step, and resolves to whether it met a change. */
  async #poll(): Promise<boolean> {
    const { number, state: last } = this.#step;
    const rows = await this.#database.read(pollStatement, [
      arrayLiteral([...this.#followed.keys()]),
      printSnapshot(last.snapshot),
    ]);
    const state = serverState(must(rows[0], "a tenant that is asked for has a row"));
    if (state.place !== last.place || state.timeline !== last.timeline) {
      throw failedOver();
    }
    const isKept = isInHistory(last.snapshot, state.snapshot, rows);
    const found = new Map(rows.map((row) => [textOf(row, "number"), row]));
    this.#step = { number: number + 1, state };
    for (const [tenant, followed] of this.#followed) {
      const row = found.get(tenant);
      // Of a tenant that joined while the statement ran, nothing is known: it may have changed.
      const isUnchanged = isKept && row !== undefined && !booleanOf(row, "changed");
      if (!isUnchanged) followed.changedAt = this.#step.number;
      if (row !== undefined && !booleanOf(row, "lives")) followed.isGone = true;
    }
    this.#stepped.ring();
    return rows.some((row) => booleanOf(row, "changed"));
  }
}

/** Whether the log still has all that changed between two states: else it may lack a change. */
function isInHistory(last: Snapshot, next: Snapshot, rows: readonly Row[]): boolean {
  const [first] = shownSince(last, next);
  return first === undefined || rows.every((row) => first.start >= BigInt(textOf(row, "horizon")));
}

/**
 * Ids of transactions may have another meaning from here on: the token with which a stream is taken
 * up again is looked at anew.
 */
export function failedOver(): PembaError {
  return new PembaError("UNAVAILABLE", "the database has failed over, retry with the last token");
}
