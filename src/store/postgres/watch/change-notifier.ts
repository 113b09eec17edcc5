import { setTimeout as wait } from "node:timers/promises";

import { outsideRequests } from "../../../base/async-context.ts";
import { pause } from "../../../base/pause.ts";
import { openOneOf } from "../connect/connection-route.ts";
import type { Database } from "../connect/database.ts";
import { statementFile } from "../connect/statement-file.ts";

const announceStatement = statementFile("changes/announce.sql");
const listenStatement = statementFile("changes/listen.sql");

/** Announcements take the load of a statement each: those that come close together are one. */
const restMs = 20;

/** Between two attempts to listen. */
const firstPauseMs = 250;
const longestPauseMs = 5_000;

const connectTimeoutMs = 30_000;

/**
 * Notifies other instances that something changed. A notification is only a hint and may be lost: every
 * instance also polls from time to time.
 */
export class Announcer {
  readonly #database: Database;
  #isDue = false;
  #running: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Something is committed. Returns at once; at most one announcement is under way. */
  announce(): void {
    this.#isDue = true;
    this.#running ??= outsideRequests(() => this.#run());
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      await this.#database.query(announceStatement, []).catch(() => undefined);
      await wait(restMs);
    }
    this.#running = undefined;
  }
}

/**
 * Receives the notifications over a connection of its own, which it makes anew when it is lost. Not
 * to be started behind a pooler: what listens there is a server that others are given next.
 */
export class Listener {
  readonly #url: string;
  readonly #onHeard: () => void;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(url: string, onHeard: () => void) {
    this.#url = url;
    this.#onHeard = onHeard;
  }

  /** Does nothing when it has been started. Never fails: what cannot be listened to is tried again. */
  start(): void {
    this.#running ??= outsideRequests(() => this.#run());
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = firstPauseMs;
    while (!signal.aborted) {
      // What cannot be reached, or refuses to be listened to, may be there later.
      const hasListened = await this.#listen().catch(() => false);
      pauseMs = hasListened ? firstPauseMs : Math.min(2 * pauseMs, longestPauseMs);
      // By a random share, so that instances that lost their connections together part.
      await pause(pauseMs * (0.5 + Math.random() / 2), signal);
    }
  }

  /**
   * Listens until the connection is lost or this is closed. Not by the `listen` of the driver, which makes
   * connections anew without a pause when they are closed before they are open, and when it has several hosts.
   */
  async #listen(): Promise<true> {
    const { signal } = this.#closing;
    const connection = await openOneOf({
      url: this.#url,
      timeoutMs: connectTimeoutMs,
      settings: {},
      signal,
      onNotified: this.#onHeard,
    });
    const close = (): void => void connection.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      signal.throwIfAborted();
      await connection.run(listenStatement);
      // What was missed is looked for.
      this.#onHeard();
      await connection.ended;
      return true;
    } finally {
      signal.removeEventListener("abort", close);
      await connection.close();
    }
  }
}
