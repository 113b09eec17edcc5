import { must } from "../../../base/assert.ts";
import { type TokenMac, tokenMac } from "../../../base/token-mac.ts";
import type { SnapToken } from "../../../base/tuple.ts";
import {
  invalidSnapToken,
  malformedSnapToken,
  snapTokenOfOtherCluster,
} from "../../store-error.ts";
import type { Greeting } from "../connect/connection.ts";
import type { Database } from "../connect/database.ts";
import { numberOf, type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import type { ParameterValue } from "../connect/value.ts";
import {
  decodeSnapToken,
  encodeSnapToken,
  hasToken,
  identityOf,
  type TokenContent,
} from "./snap-token-codec.ts";
import { namedState, namedStateOf, parseSnapshot, printSnapshot, withVisible } from "./snapshot.ts";
import { decodeSqlToken, placeOfSqlToken } from "./sql-token.ts";

const openStatement = statementFile("installation/open.sql");
const secretStatement = statementFile("installation/token-secret.sql");
const stateStatement = statementFile("installation/state.sql");

/** What the last statement of a transaction says of itself. */
export type TokenSource = {
  /** `pg_current_snapshot()` as text. */
  readonly snapshot: string;
  /** `current_timeline()`. */
  readonly timeline: number;
} & (LoggedChange | NoChange);

interface LoggedChange {
  /** The id of the transaction. */
  readonly xid: string;
}

interface NoChange {
  readonly xid: undefined;
  /** The last id that is known to be durable. */
  readonly durable: string;
}

/** A state that a statement is to read: the values of its parameters (see `pinTable`). */
export interface PinnedState {
  /** Of the cluster and database. */
  readonly identity: string;
  readonly snapshot: string;
  readonly timeline: number;
  /** The id of the change whose token it is, or 0. */
  readonly change: string;
  readonly takenBefore: string;
  /** What proves a token that was taken inside its transaction, as `is_logged_otherwise` takes it. */
  readonly last: string;
}

const stateParameters: readonly (readonly [string, keyof PinnedState])[] = [
  ["snapshot", "snapshot"],
  ["snapshot_timeline", "timeline"],
  ["snapshot_change", "change"],
  ["snapshot_taken_before", "takenBefore"],
  ["snapshot_last", "last"],
];

/** The values by the keys of their parameters. */
export function stateValues(state: PinnedState): readonly (readonly [string, ParameterValue])[] {
  return stateParameters.map(([key, part]) => [key, state[part]]);
}

/** The values in the order of a function that takes them all, null without a state. */
export function stateList(state: PinnedState | undefined): readonly ParameterValue[] {
  return stateParameters.map(([, part]) => state?.[part] ?? null);
}

/**
 * A committed change is in the write-ahead log with all that its transaction saw, so every id of its state
 * is durable.
 */
function stateAfter(source: TokenSource): Omit<TokenContent, "identity"> {
  const { timeline } = source;
  const seen = parseSnapshot(source.snapshot);
  if (source.xid === undefined) {
    return { timeline, change: undefined, ...namedState(seen, BigInt(source.durable)) };
  }
  const change = BigInt(source.xid);
  const shown = withVisible(seen, change);
  return { timeline, snapshot: shown, change, takenBefore: shown.xmax };
}

/** Whose tokens are good. */
interface Installation {
  /** Of the cluster and database. */
  readonly identity: string;
  readonly snapMac: TokenMac;
  readonly pageMac: TokenMac;
  /** Of the tokens that applications take in SQL; undefined where these are not good. */
  readonly sqlMac: TokenMac | undefined;
}

/** What authenticates tokens. */
export interface TokenKeys {
  /** When absent, the secret of the database. */
  readonly key?: string | undefined;
  /** Databases of other clusters make tokens with the same key, for tenants that are here now. */
  readonly isShared?: boolean | undefined;
  /** Tokens that SQL made are good as well. They always have a code by the secret of the database. */
  readonly fromSql?: boolean;
}

/** Makes and reads the snap tokens of one database. */
export class SnapTokens {
  readonly #database: Database;
  readonly #keys: TokenKeys;
  #installation: Installation;
  /** The one that was met last; undefined when it is not known what it means for tokens. */
  #server: Greeting | undefined;
  #isStale = false;
  #isRefreshing = false;

  private constructor(database: Database, keys: TokenKeys, installation: Installation) {
    this.#database = database;
    this.#keys = keys;
    this.#installation = installation;
    this.#server = database.greeting;
  }

  /** Learns whose tokens are good; records a first start, a new timeline, a copied database. */
  static async load(database: Database, keys: TokenKeys): Promise<SnapTokens> {
    return new SnapTokens(database, keys, await openInstallation(database, keys));
  }

  /** Authenticates the continuous tokens of this database. */
  pageMac(content: Uint8Array): Buffer {
    return this.#installation.pageMac(content);
  }

  /** A connection leads to this server: when it is another one, what it means is learned anew. */
  greeted(server: Greeting): void {
    const isKnown =
      server.place === this.#server?.place && server.timeline === this.#server.timeline;
    this.#server = server;
    if (!isKnown) this.refresh();
  }

  /** Learns whose tokens are good, in the background. Where that fails, the next greeting has it done. */
  refresh(): void {
    this.#isStale = true;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    void this.#whileStale().finally(() => {
      this.#isRefreshing = false;
      // It may have been given out after the last look at it.
      if (this.#isStale) this.refresh();
    });
  }

  /**
   * The token of the state in which a committed transaction left the database, itself included. When
   * another application took so many ids meanwhile that this state has no token, it is that of a state a
   * moment later.
   */
  mint(source: TokenSource): SnapToken | Promise<SnapToken> {
    const state = stateAfter(source);
    return hasToken(state.snapshot) ? this.tokenOf(state) : this.#mintLater(state);
  }

  async #mintLater(state: Omit<TokenContent, "identity">): Promise<SnapToken> {
    const rows = await this.#database.read(stateStatement, []);
    const row = must(rows[0], "an installation has a row");
    return this.tokenOf({ ...state, timeline: numberOf(row, "timeline"), ...namedStateOf(row) });
  }

  /** The token of the state that a row names by its columns `snapshot`, `durable` and `timeline`. */
  mintOfRow(row: Row): SnapToken {
    const timeline = numberOf(row, "timeline");
    return this.tokenOf({ timeline, change: undefined, ...namedStateOf(row) });
  }

  /** The token of a state. */
  tokenOf(state: Omit<TokenContent, "identity">): SnapToken {
    const { identity, snapMac } = this.#installation;
    return encodeSnapToken(snapMac, { identity, ...state });
  }

  /** Whether tokens are made for a cluster and database, as `open_installation()` names them. */
  isOf(place: string): boolean {
    return identityOf(place) === this.#installation.identity;
  }

  /**
   * The state that a token names. Fails with INVALID_SNAP_TOKEN when it is malformed or of another
   * database, and with SNAP_TOKEN_EXPIRED when that one is another cluster. Whether it lies in the future,
   * was lost, or lies before what is kept of the past is for the statement to say that reads with it.
   */
  read(token: SnapToken): PinnedState {
    const { identity, snapMac, sqlMac } = this.#installation;
    const content = decodeSnapToken(snapMac, token);
    const read = content === undefined ? sqlMac && readSqlToken(sqlMac, token) : { content };
    const isShared = this.#keys.isShared === true;
    if (read === undefined) {
      const place = isShared ? placeOfSqlToken(token) : undefined;
      if (place !== undefined && place !== identity) throw snapTokenOfOtherCluster();
      throw invalidSnapToken(malformedSnapToken);
    }
    const { identity: ofToken, snapshot, timeline, change, takenBefore } = read.content;
    if (ofToken !== identity) {
      throw isShared ? snapTokenOfOtherCluster() : invalidSnapToken("is of another database");
    }
    return {
      identity,
      snapshot: printSnapshot(snapshot),
      timeline,
      change: String(change ?? 0),
      takenBefore: String(takenBefore),
      last: "last" in read ? read.last : "",
    };
  }

  async #whileStale(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      try {
        this.#installation = await openInstallation(this.#database, this.#keys);
      } catch {
        // Requests meet the same fault and report it.
        this.#server = undefined;
      }
    }
  }
}

/** What a token of SQL says; undefined when it is none, or names more transactions than a token may. */
function readSqlToken(
  mac: TokenMac,
  token: string,
): { readonly content: TokenContent; readonly last: string } | undefined {
  const made = decodeSqlToken(mac, token);
  if (made === undefined) return undefined;
  const content = { identity: made.identity, ...stateAfter(made) };
  if (!hasToken(content.snapshot)) return undefined;
  const last = made.xid === undefined ? "" : `${made.last} ${made.durable} ${made.snapshot}`;
  return { content, last };
}

async function openInstallation(
  database: Database,
  { key, fromSql = false }: TokenKeys,
): Promise<Installation> {
  const [opened] = await database.query(openStatement, []);
  const place = textOf(must(opened, "an opened installation has a timeline"), "identity");
  const secret = key !== undefined && !fromSql ? undefined : await secretOf(database);
  const own = key ?? must(secret, "it is read where there is no key");
  return {
    identity: identityOf(place),
    snapMac: tokenMac(own, "snap"),
    pageMac: tokenMac(own, "continuous"),
    sqlMac: fromSql ? tokenMac(must(secret, "it is read for the tokens of SQL"), "sql") : undefined,
  };
}

/** After it has been opened, since a statement does not see the row that one of its functions makes. */
export async function secretOf(database: Database): Promise<string> {
  const [row] = await database.query(secretStatement, []);
  return textOf(must(row, "an opened installation has a secret"), "secret");
}
