import postgres from "postgres";

import { must } from "../../base/assert.ts";
import { storageError } from "./driver-error.ts";
import { booleanOf, numberOf, type Row, textOf } from "./row.ts";
import { SingleSocket } from "./single-socket.ts";
import { statementFile } from "./statement-file.ts";
import type { Value } from "./value.ts";

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
  /** Most milliseconds until the server has accepted it; 0: as long as it takes. */
  readonly timeoutMs: number;
  /** Settings of the session. */
  readonly settings: Readonly<Record<string, string>>;
  /** Told what the server says of itself, each time that it is asked. */
  readonly onGreeted: (greeting: Greeting) => void;
}

/** A statement that is on its way. */
export interface Running {
  /** Fails with an error of the table. */
  readonly rows: Promise<readonly Row[]>;
  /** The process that runs it, or what a pooler calls it. */
  readonly backend: number | undefined;
  /** Under which it is prepared. */
  readonly name: string | undefined;
  /** Asks the server to end it. Returns at once; it may come too late. */
  readonly cancel: () => void;
}

/**
 * One connection to one server, which lives once: when it is lost, it is over. It does one statement
 * at a time, and knows what it has prepared.
 */
export class Connection {
  readonly #sql: postgres.Sql;
  readonly #sockets: SingleSocket;
  readonly #options: ConnectionOptions;
  readonly #prepared = new Set<string>();
  readonly #end = Promise.withResolvers<void>();
  #preparedCharacters = 0;
  #isOpen = true;

  private constructor(options: ConnectionOptions, sockets: SingleSocket) {
    this.#options = options;
    this.#sockets = sockets;
    this.#sql = postgres(options.uri, {
      max: 1,
      // How long it lives is for the pool around it to say.
      idle_timeout: 0,
      max_lifetime: null,
      connect_timeout: options.timeoutMs / 1000,
      // Asking for the types of arrays would be a query for each connection: arrays are text here.
      fetch_types: false,
      onnotice: () => {},
      onclose: () => this.#ended(),
      connection: { application_name: "pemba", ...options.settings },
      ...socketOption(sockets),
    });
  }

  /** Opens one. Fails with an error of the table. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const sockets = new SingleSocket(options.timeoutMs);
    const connection = new Connection(options, sockets);
    try {
      await connection.greet();
    } catch (error) {
      await connection.close();
      throw error;
    }
    sockets.opened();
    return connection;
  }

  /** False once it has ended. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves when it has ended, for whatever reason. */
  get ended(): Promise<void> {
    return this.#end.promise;
  }

  /** Characters of the texts that it has prepared. */
  get preparedCharacters(): number {
    return this.#preparedCharacters;
  }

  /** Asks the server who it is. Fails with an error of the table. */
  async greet(): Promise<Greeting> {
    const rows = await this.run(greetStatement, [], false).rows;
    const row = must(rows[0], "a server has a name");
    const greeting = {
      isStandby: booleanOf(row, "is_standby"),
      place: textOf(row, "place"),
      timeline: row["timeline"] === null ? undefined : numberOf(row, "timeline"),
    };
    this.#options.onGreeted(greeting);
    return greeting;
  }

  /** Sends a statement; the one before has ended. Prepared, it can be sent again for less. */
  run(text: string, values: readonly Value[], isPrepared: boolean): Running {
    if (isPrepared && !this.#prepared.has(text)) {
      this.#prepared.add(text);
      this.#preparedCharacters += text.length;
    }
    // Without `simple: false` the driver sends a statement that has no values unprepared.
    const options = { prepare: isPrepared, simple: false };
    const query = this.#sql.unsafe<Row[]>(text, [...values], options);
    return {
      rows: query.then(
        (rows) => rows,
        (error: unknown) => {
          throw storageError(error);
        },
      ),
      get backend() {
        const pid = partOf(query, "state", "pid");
        return typeof pid === "number" ? pid : undefined;
      },
      get name() {
        const name = partOf(query, "statement", "name");
        return typeof name === "string" ? name : undefined;
      },
      cancel: () => {
        // Declared as void, it is a promise, which fails when the server cannot be reached.
        const sent: unknown = query.cancel();
        Promise.resolve(sent).catch(() => undefined);
      },
    };
  }

  /** Sends statements that are separated by semicolons and have no values; the rows of a single one. */
  async script(text: string): Promise<readonly Row[]> {
    try {
      return await this.#sql.unsafe<Row[]>(text).simple();
    } catch (error) {
      throw storageError(error);
    }
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

/** The types of the driver lack it. */
function socketOption({ socket }: SingleSocket): object {
  return { socket };
}

/** What the driver knows of a statement once it is sent, and its types do not. */
function partOf(query: object, part: string, key: string): unknown {
  const value: unknown = Reflect.get(query, part);
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
