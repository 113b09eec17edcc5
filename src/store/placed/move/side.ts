import { must } from "../../../base/assert.ts";
import { presentCaller } from "../../../base/caller.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { booleanOf, numberOf, type Row, textOf } from "../../postgres/connect/row.ts";
import { statementFile } from "../../postgres/connect/statement-file.ts";
import type { ParameterValue } from "../../postgres/connect/value.ts";
import { namedStateOf, printSnapshot } from "../../postgres/token/snapshot.ts";
import { type MoveDatabase, takenOver } from "./notes.ts";

const derivedStatement = statementFile("placement/move-derived.sql");
const tallyStatement = statementFile("placement/move-tally.sql");
const textsStatement = statementFile("placement/move-texts.sql");
const timelineStatement = statementFile("placement/move-timeline.sql");

/** What a move asks of both databases. Tenants go by the number that they have there. */
export abstract class MoveSide {
  readonly #database: MoveDatabase;
  /** The process that moves the tenant. */
  protected readonly mover: string;

  constructor(database: MoveDatabase, mover: string) {
    this.#database = database;
    this.mover = mover;
  }

  /** The tables from which maps derive tuples or attributes of the tenant. */
  async derivedFrom(tenant: TenantId): Promise<readonly string[]> {
    const rows = await this.query(derivedStatement, [tenant]);
    return rows.map((row) => textOf(row, "source"));
  }

  /** Counts all rows of the tenant. */
  async countRows(number: string): Promise<{ readonly snapshot: string; readonly tally: string }> {
    const row = await this.one(tallyStatement, [number]);
    return { snapshot: durableSnapshotOf(row), tally: textOf(row, "tally") };
  }

  /** Differs if schemas or bundles differ. */
  async textsDigest(number: string): Promise<string> {
    return textOf(await this.one(textsStatement, [number]), "digest");
  }

  /** Differs after a standby of the server was promoted, which may lack the last changes. */
  async timeline(): Promise<number> {
    return numberOf(await this.one(timelineStatement, []), "timeline");
  }

  /** Of a statement that returns `is_others`. */
  protected refuseOthers(row: Row): void {
    if (booleanOf(row, "is_others")) throw takenOver();
  }

  protected async one(statement: string, values: readonly ParameterValue[]): Promise<Row> {
    const [row] = await this.query(statement, values);
    return must(row, "the statement has one row");
  }

  /** A statement is given up when the time for the work is over, if it has a limit. */
  protected async query(
    statement: string,
    values: readonly ParameterValue[],
  ): Promise<readonly Row[]> {
    return await this.#database.query(statement, values, presentCaller()?.signal);
  }
}

/**
 * From a row with the columns `snapshot` and `durable`: the state without ids that a crash of the server would give
 * out again. A move that goes on after the crash would not follow what is changed under them.
 */
export function durableSnapshotOf(row: Row): string {
  return printSnapshot(namedStateOf(row).snapshot);
}
