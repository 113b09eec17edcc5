import { must } from "../../../base/assert.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { booleanOf, optionalTextOf, type Row, textOf } from "../../postgres/connect/row.ts";
import { statementFile } from "../../postgres/connect/statement-file.ts";
import type { ParameterValue } from "../../postgres/connect/value.ts";
import { takenOver } from "./notes.ts";
import { RowTally } from "./row-tally.ts";
import { MoveSide } from "./side.ts";
import type { ChangedRows } from "./source.ts";

const expectStatement = statementFile("placement/move-expect.sql");
const takeStatement = statementFile("placement/move-take-arrival.sql");
const noteStatement = statementFile("placement/move-note.sql");
const prepareStatement = statementFile("placement/move-prepare.sql");
const insertStatement = statementFile("placement/move-insert.sql");
const removeStatement = statementFile("placement/move-remove.sql");
const schemasStatement = statementFile("placement/move-insert-schemas.sql");
const bundlesStatement = statementFile("placement/move-put-bundles.sql");
const receiveStatement = statementFile("placement/move-receive.sql");
const abandonStatement = statementFile("placement/move-abandon.sql");

/** The tenant at the target, which nothing serves before `receive`. */
export interface Arrival {
  readonly number: string;
  /** What was noted last, as json. */
  readonly progress: string | undefined;
  /** Whether the target serves a tenant with this id, which is another one. */
  readonly isTaken: boolean;
}

/** The database to which a tenant goes. Its methods fail with SERIALIZATION if another process moves the tenant. */
export class MoveTarget extends MoveSide {
  /** What it has of the tenant. Undefined until it is counted. */
  #tally: RowTally | undefined;

  async expect(tenant: TenantId): Promise<Arrival> {
    const row = await this.one(expectStatement, [tenant, this.mover]);
    return {
      number: textOf(row, "number"),
      progress: optionalTextOf(row, "progress"),
      isTaken: booleanOf(row, "is_taken"),
    };
  }

  /** Goes on with what another process has begun here, if it has. */
  async takeOver(tenant: TenantId): Promise<void> {
    await this.query(takeStatement, [tenant, this.mover]);
  }

  /** @param progress json */
  async note(number: string, progress: string): Promise<void> {
    const rows = await this.query(noteStatement, [number, this.mover, progress]);
    if (rows.length === 0) throw takenOver();
  }

  /** @param made the tenant as `receive` is to make it, as json */
  async prepare(number: string, made: string): Promise<void> {
    const rows = await this.query(prepareStatement, [number, this.mover, made]);
    if (rows.length === 0) throw takenOver();
  }

  /** Puts in rows that are not there yet: json texts of the source. */
  async insert(
    number: string,
    { tuples = "[]", attributes = "[]" }: Partial<Pick<ChangedRows, "tuples" | "attributes">>,
  ): Promise<void> {
    const row = await this.#mine(insertStatement, [number, this.mover, tuples, attributes]);
    this.#tally?.add(textOf(row, "tally"));
  }

  /** Makes the rows of all keys that were changed those of the source. */
  async follow(number: string, rows: ChangedRows): Promise<void> {
    const keys = [rows.absentTuples, rows.touchedAttributes];
    const removed = await this.#mine(removeStatement, [number, this.mover, ...keys]);
    this.#tally?.subtract(textOf(removed, "tally"));
    await this.insert(number, rows);
  }

  async insertSchemas(number: string, text: string): Promise<void> {
    await this.#mine(schemasStatement, [number, this.mover, text]);
  }

  /** Makes the bundles with names above `after` up to `last`, or all above, those of the source. */
  async putBundles(
    number: string,
    text: string,
    after: string,
    last: string | undefined,
  ): Promise<void> {
    const values = [number, this.mover, text, after, last ?? null];
    await this.#mine(bundlesStatement, values);
  }

  /** Counts all that it has. Nothing but the move changes it, so it is counted once. */
  async count(number: string): Promise<void> {
    const tally = new RowTally();
    tally.add((await this.countRows(number)).tally);
    this.#tally = tally;
  }

  get tally(): RowTally {
    return must(this.#tally, "it was counted");
  }

  /** Serves the tenant from now on. */
  async receive(tenant: TenantId): Promise<void> {
    const row = await this.one(receiveStatement, [tenant, this.mover]);
    if (!booleanOf(row, "is_served")) throw takenOver();
  }

  /** Leaves what was copied to be removed. */
  async abandon(tenant: TenantId): Promise<void> {
    this.refuseOthers(await this.one(abandonStatement, [tenant, this.mover]));
  }

  async #mine(statement: string, values: readonly ParameterValue[]): Promise<Row> {
    const row = await this.one(statement, values);
    if (!booleanOf(row, "is_mine")) throw takenOver();
    return row;
  }
}
