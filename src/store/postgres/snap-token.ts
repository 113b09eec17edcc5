import { must } from "../../base/assert.ts";
import type { SnapToken } from "../../base/tuple.ts";
import { invalidSnapToken } from "../store-error.ts";
import type { Database } from "./database.ts";
import { numberOf, textOf } from "./row.ts";
import {
  decodeSnapToken,
  encodeSnapToken,
  identityOf,
  type TokenContent,
} from "./snap-token-codec.ts";
import { parseSnapshot, printSnapshot, withVisible } from "./snapshot.ts";
import { statementFile } from "./statement-file.ts";

const openStatement = statementFile("installation/open.sql");

/** What the last statement of a transaction says of itself. */
export interface TokenSource {
  /** `pg_current_snapshot()` as text. */
  readonly snapshot: string;
  /** The id of the transaction, or undefined when it has none: it changed nothing. */
  readonly xid: string | undefined;
  /** `current_timeline()`. */
  readonly timeline: number;
}

/** What is good here: ids of an earlier timeline only below where the next one began. */
interface Installation {
  readonly identity: string;
  readonly timelines: readonly { readonly timeline: number; readonly firstXid: bigint }[];
}

/** Makes and reads the snap tokens of one database. */
export class SnapTokens {
  readonly #database: Database;
  #installation: Installation;
  #isStale = false;
  #isRefreshing = false;

  private constructor(database: Database, installation: Installation) {
    this.#database = database;
    this.#installation = installation;
  }

  /** Learns whose tokens are good; records a first start, a new timeline, a copied database. */
  static async load(database: Database): Promise<SnapTokens> {
    return new SnapTokens(database, await openInstallation(database));
  }

  /**
   * Learns it anew, in the background: after the loss of a connection the server may be another
   * one. Where that fails for the loss of yet another connection, this has been called again.
   */
  refresh(): void {
    this.#isStale = true;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    void this.#whileStale().finally(() => {
      this.#isRefreshing = false;
      // The last loss may have been told after the last look at it.
      if (this.#isStale) this.refresh();
    });
  }

  /** The token of the state in which a transaction left the database, itself included. */
  mint({ snapshot, xid, timeline }: TokenSource): SnapToken {
    const seen = parseSnapshot(snapshot);
    return encodeSnapToken({
      identity: this.#installation.identity,
      timeline,
      snapshot: xid === undefined ? seen : withVisible(seen, BigInt(xid)),
    });
  }

  /**
   * The snapshot that a token names, for a parameter with the cast `::pg_snapshot`. Fails with
   * INVALID_SNAP_TOKEN when it is malformed, of another database, or names what a failover or a
   * recovery to an earlier point has lost. Whether it lies in the future, or before what is kept of
   * the past, is for the statement to say that reads with it.
   */
  read(token: SnapToken): { readonly snapshot: string } {
    const content = decodeSnapToken(token);
    if (content === undefined)
      throw invalidSnapToken("is malformed, expected a token of an earlier answer");
    if (content.identity !== this.#installation.identity)
      throw invalidSnapToken("is of another database");
    if (!this.#isInHistory(content))
      throw invalidSnapToken("names a state that the database has lost");
    return { snapshot: printSnapshot(content.snapshot) };
  }

  async #whileStale(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      try {
        this.#installation = await openInstallation(this.#database);
      } catch {
        // Requests meet the same fault and tell it.
      }
    }
  }

  #isInHistory({ timeline, snapshot }: TokenContent): boolean {
    return this.#installation.timelines.every(
      (other) => other.timeline <= timeline || snapshot.xmax <= other.firstXid,
    );
  }
}

async function openInstallation(database: Database): Promise<Installation> {
  const rows = await database.query(openStatement, []);
  const first = must(rows[0], "an opened installation has a timeline");
  return {
    identity: identityOf(textOf(first, "identity")),
    timelines: rows.map((row) => ({
      timeline: numberOf(row, "timeline"),
      firstXid: BigInt(textOf(row, "first_xid")),
    })),
  };
}
