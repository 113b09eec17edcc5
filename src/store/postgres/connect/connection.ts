import postgres from "postgres";

import { assert, must } from "../../../base/assert.ts";
import { timerMs } from "../../../base/pause.ts";
import { coded, storageError } from "./driver-error.ts";
import { type DriverTarget, driverTarget } from "./driver-target.ts";
import { booleanOf, numberOf, type Row, textOf } from "./row.ts";
import { SingleSocket } from "./single-socket.ts";
import { statementFile } from "./statement-file.ts";
import { StatementMemory } from "./statement-memory.ts";
import type { ParameterValue } from "./value.ts";

const greetStatement = statementFile("connection/greet.sql");

/** The server that a connection leads to. */
export interface Greeting {
  /** It follows another one and takes no writes. */
  readonly isStandby: boolean;
  /** The cluster and database, as `open_installation()` names them. */
  readonly place: string;
  /** Of what it writes; a standby has none. */
  readonly timeline: number | undefined;
}

export interface ConnectionOptions {
  /** Of one host. */
  readonly uri: string;
  /** Most milliseconds until the server has accepted and greeted it; 0: 30 seconds. */
  readonly timeoutMs: number;
  /** Gives up making it. */
  readonly signal?: AbortSignal | undefined;
  /** Settings of the session. A `search_path` takes the place of that of the URI. */
  readonly settings: Readonly<Record<string, string>>;
  /** Called with the greeting of the server, each time it is asked. */
  readonly onGreeted: (greeting: Greeting) => void;
  /** What is done with it before it is open, within the same time. */
  readonly prepare?: ((connection: Connection) => Promise<void>) | undefined;
  /** Called with each notification of a channel that it listens to. */
  readonly onNotified?: (() => void) | undefined;
}

/** So long a text that is planned ahead waits for a lock, in milliseconds. */
const lockWaitMs = 10;

/** A server that takes connections and says nothing would else hold their places for ever. */
export const openingMaxMs = 30_000;

/** A statement that is on its way; `rowsOf` awaits it. */
export type Sent = postgres.PendingQuery<Row[]>;

/**
 * One connection to one server, which lives once: when it is lost, it is over. It does one statement
 * at a time, and knows what these take of the server.
 */
export class Connection {
  readonly #sql: postgres.Sql;
  readonly #sockets: SingleSocket;
  readonly #options: ConnectionOptions;
  readonly #memory = new StatementMemory();
  readonly #end = Promise.withResolvers<void>();
  #isOpen = true;

  private constructor(
    options: ConnectionOptions,
    { uri, ssl, places }: DriverTarget,
    timeoutMs: number,
  ) {
    this.#options = options;
    this.#sockets = new SingleSocket(timeoutMs, ssl);
    this.#sql = postgres("search_path" in options.settings ? withoutPath(uri) : uri, {
      ...places,
      max: 1,
      // Its sockets are encrypted already.
      ssl: false,
      // How long it lives is for the pool around it to say.
      idle_timeout: 0,
      max_lifetime: null,
      connect_timeout: timeoutMs / 1000,
      // Asking for the types of arrays would be a query for each connection: arrays are text here.
      fetch_types: false,
      onnotice: () => {},
      onclose: () => this.#ended(),
      connection: { application_name: "pemba", ...options.settings },
      ...driverOptions(this.#sockets, options.onNotified),
    });
  }

  /** Opens one. Fails with an error of the table. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { timeoutMs: setMs, signal } = options;
    const timeoutMs = timerMs(setMs || openingMaxMs);
    const connection = new Connection(options, driverTarget([options.uri]), timeoutMs);
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    const end = (): void => reject(coded("CONNECTION_DESTROYED", "connections were ended"));
    const { host } = new URL(options.uri);
    const late = (): void => reject(coded("CONNECT_TIMEOUT", `the server took too long: ${host}`));
    // The limit of the driver ends before the greeting, which a pooler may never answer.
    const timer = setTimeout(late, timeoutMs);
    signal?.addEventListener("abort", end, { once: true });
    try {
      await Promise.race([connection.#begin(timeoutMs), givenUp]);
    } catch (error) {
      await connection.close();
      throw storageError(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
    connection.#sockets.opened();
    return connection;
  }

  /** Of the host that it leads to. */
  get uri(): string {
    return this.#options.uri;
  }

  /** False once it has ended. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#sockets.isLost;
  }

  /** Resolves when it has ended, for any reason. */
  get ended(): Promise<void> {
    return this.#end.promise;
  }

  /** Its statements take so much of the server that another one should take its place. */
  get isNearlyFull(): boolean {
    return this.#memory.isNearlyFull;
  }

  /** Asks the server for its greeting. Fails with an error of the table. */
  async greet(): Promise<Greeting> {
    const rows = await this.run(greetStatement);
    const row = must(rows[0], "a server has a name");
    const greeting = {
      isStandby: booleanOf(row, "is_standby"),
      place: textOf(row, "place"),
      timeline: row["timeline"] === null ? undefined : numberOf(row, "timeline"),
    };
    this.#options.onGreeted(greeting);
    return greeting;
  }

  async #begin(timeoutMs: number): Promise<void> {
    const halfIsOver = performance.now() + timeoutMs / 2;
    await this.greet();
    // It may be given up for being late: what can be left out takes no time that is scarce.
    if (performance.now() < halfIsOver) await this.#options.prepare?.(this);
  }

  /** Has it prepared the text? */
  hasPrepared(text: string): boolean {
    return this.#memory.hasPrepared(text);
  }

  /**
   * Sends a statement; the one before has ended. Prepared, it can be sent again for less: it is, where
   * that is worth it and there is room.
   */
  send(text: string, values: readonly ParameterValue[], isWorthPreparing: boolean): Sent {
    const prepare = this.#memory.run(text, isWorthPreparing);
    // Without `simple: false` the driver sends a statement that has no values unprepared.
    const options = { prepare, simple: false };
    const sent = this.#sql.unsafe<Row[]>(text, [], options);
    // Given as arguments, their types become a part of the text by which the driver looks for what it has
    // prepared: thousands of characters, joined and hashed anew each time.
    Reflect.set(sent, "parameters", [...values]);
    return sent;
  }

  /**
   * Prepares texts and has the server plan them, without running them, as far as most of the room is left for
   * others: until it `isWanted`, or so many milliseconds are over. A text that the server refuses is left out,
   * as it is when it is sent. Fails with an error of the table when the connection is lost.
   */
  async planAhead(
    texts: readonly string[],
    { withinMs, isWanted }: { readonly withinMs: number; readonly isWanted: () => boolean },
  ): Promise<void> {
    if (texts.length === 0 || isWanted()) return;
    const endsAt = performance.now() + withinMs;
    // A table of a text may be locked. A limit for the statement would not do: if it ends between two messages of one
    // statement, the server answers once more than the driver expects, and later answers are taken for those before.
    await this.script(`set statement_timeout = 0; set lock_timeout = ${lockWaitMs}`);
    for (const text of texts) {
      if (isWanted() || performance.now() >= endsAt || !this.isOpen) break;
      if (this.#memory.hasRoomAhead(text)) this.#memory.run(text, await this.#plan(text));
    }
    await this.script("reset statement_timeout; reset lock_timeout");
  }

  /** Whether the text is prepared and planned now. */
  async #plan(text: string): Promise<boolean> {
    try {
      // Sent as `send` does, or the driver would not find it again.
      const { name, types } = await this.#sql.unsafe(text, [], { prepare: true }).describe();
      const values = types.length === 0 ? "" : `(${types.map(() => "null").join(", ")})`;
      // Preparing makes no plan, and the session keeps the one that is explained.
      await this.script(`explain (costs off) execute "${name}"${values}`);
      return true;
    } catch {
      // Nothing asks for it yet. If the connection is lost, what is sent next says so.
      return false;
    }
  }

  /** The rows of a statement that is sent once. Fails with an error of the table. */
  async run(text: string, values: readonly ParameterValue[] = []): Promise<readonly Row[]> {
    this.#refuseLost();
    try {
      return await rowsOf(this.send(text, values, false));
    } catch (error) {
      throw storageError(error);
    }
  }

  /** Sends statements that are separated by semicolons and have no values; the rows of a single one. */
  async script(text: string): Promise<readonly Row[]> {
    this.#refuseLost();
    try {
      return await rowsOf(this.#sql.unsafe<Row[]>(text).simple());
    } catch (error) {
      throw storageError(error);
    }
  }

  /** What is given to the driver after its socket has failed, and before it hears that this is closed, never ends. */
  #refuseLost(): void {
    if (!this.isOpen) throw storageError(coded("CONNECTION_CLOSED", "the connection was lost"));
  }

  /** Ends it at once: what runs fails. */
  async close(): Promise<void> {
    await this.#sql.end({ timeout: 0 });
    this.#sockets.cut();
    this.#ended();
  }

  #ended(): void {
    this.#isOpen = false;
    this.#end.resolve();
  }
}

/** The driver takes a setting of the URI before one of its options. */
function withoutPath(uri: string): string {
  return uri.replace(/(?<=[?&])search_path=[^&#]*&?/g, "");
}

/** The types of the driver lack these. */
function driverOptions(
  { socket }: SingleSocket,
  onnotify: ConnectionOptions["onNotified"],
): object {
  return { socket, onnotify };
}

/**
 * The rows of a statement, once they are there. Fails with what the driver throws (see `storageError`).
 * The driver counts rows on from where the statement before failed or was cancelled: what comes next
 * over that connection begins with as many holes, which are left out here.
 */
export async function rowsOf(sent: Sent): Promise<readonly Row[]> {
  const rows = await sent;
  return rows.length === 0 || 0 in rows ? rows : rows.filter(() => true);
}

/** The process that runs a statement, or what a pooler calls it; the driver knows it once it is sent. */
export function backendOf(sent: Sent): number | undefined {
  const pid = partOf(sent, "state", "pid");
  return typeof pid === "number" ? pid : undefined;
}

/** The name under which a statement is prepared. */
export function nameOf(sent: Sent): string | undefined {
  const name = partOf(sent, "statement", "name");
  return typeof name === "string" ? name : undefined;
}

/** Asks the server to end a statement, for the first time. Returns at once; it may come too late. */
export function cancel(sent: Sent): void {
  // What the driver does on `sent.cancel()` is a promise that fails when the server cannot be reached, and it gives
  // that promise to nothing: it would end the process.
  const ask: unknown = Reflect.get(sent, "canceller");
  assert(typeof ask === "function", "a statement can be cancelled");
  const asked: unknown = Reflect.apply(ask, sent, [sent]);
  Promise.resolve(asked).catch(() => undefined);
}

/** The types of the driver lack these. */
function partOf(sent: Sent, part: string, key: string): unknown {
  const value: unknown = Reflect.get(sent, part);
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
