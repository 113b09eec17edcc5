import { setTimeout as wait } from "node:timers/promises";

import postgres from "postgres";

import { outsideRequests } from "../../../base/async-context.ts";
import { hostUris } from "../../../base/host-uris.ts";
import type { Database } from "../connect/database.ts";
import { driverTarget } from "../connect/driver-target.ts";
import { statementFile } from "../connect/statement-file.ts";

const announceStatement = statementFile("changes/announce.sql");

/** As in `changes/announce.sql`. */
const channel = "pemba_changes";

/** Announcements take the load of a statement each: those that come close together are one. */
const restMs = 20;

/** Where listening is refused, it is tried again after this long. */
const retryMs = 30_000;

const closeTimeoutSeconds = 1;

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
  #sql: postgres.Sql | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(url: string, onHeard: () => void) {
    this.#url = url;
    this.#onHeard = onHeard;
  }

  /** Does nothing when it has been started. Never fails: what cannot be listened to is tried again. */
  start(): void {
    if (this.#sql === undefined && this.#retry === undefined) this.#listen();
  }

  async close(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const sql = this.#sql;
    this.#sql = undefined;
    await sql?.end({ timeout: closeTimeoutSeconds });
  }

  /** Makes a connection, which takes the place of the one before. */
  #listen(): void {
    this.#retry = undefined;
    const former = this.#sql;
    let sql: postgres.Sql;
    try {
      sql = clientOf(this.#url);
    } catch {
      // The file of trusted certificates is being replaced. The driver may still bring the former connection back.
      this.#listenLater();
      return;
    }
    this.#sql = sql;
    // The driver listens again when the connection is lost; what was missed is looked for then.
    sql.listen(channel, this.#onHeard, this.#onHeard).catch(() => {
      if (this.#sql === sql) this.#listenLater();
    });
    former?.end({ timeout: closeTimeoutSeconds }).catch(() => undefined);
  }

  #listenLater(): void {
    this.#retry = setTimeout(() => this.#listen(), retryMs).unref();
  }
}

/** A client of the driver with one connection. Fails as `driverTarget`. */
function clientOf(url: string): postgres.Sql {
  const { uris, mustWrite } = hostUris(url);
  const { uri, ssl, places } = driverTarget(uris);
  return postgres(uri, {
    ...places,
    ssl,
    max: 1,
    fetch_types: false,
    prepare: false,
    onnotice: () => {},
    connection: { application_name: "pemba" },
    // A standby cannot be listened to.
    ...(mustWrite && { target_session_attrs: "primary" }),
  });
}
