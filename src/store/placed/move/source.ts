import { randomUUID } from "node:crypto";

import { PembaError } from "../../../base/error.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { booleanOf, numberOf, oneOf, optionalTextOf, textOf } from "../../postgres/connect/row.ts";
import { statementFile } from "../../postgres/connect/statement-file.ts";
import { arrayLiteral } from "../../postgres/connect/value.ts";
import type { XidRange } from "../../postgres/token/snapshot.ts";
import { durableSnapshotOf, MoveSide } from "./side.ts";

const departStatement = statementFile("placement/move-depart.sql");
const takeStatement = statementFile("placement/move-take-departure.sql");
const stateStatement = statementFile("placement/move-state.sql");
const tuplesStatement = statementFile("placement/move-tuples.sql");
const attributesStatement = statementFile("placement/move-attributes.sql");
const changesStatement = statementFile("placement/move-changes.sql");
const schemasStatement = statementFile("placement/move-schemas.sql");
const bundlesStatement = statementFile("placement/move-bundles.sql");
const hideStatement = statementFile("placement/move-hide.sql");
const hiddenStatement = statementFile("placement/move-hidden.sql");
const showStatement = statementFile("placement/move-show.sql");
const writersStatement = statementFile("placement/move-writers.sql");
const quietStatement = statementFile("placement/move-quiet.sql");
const stayStatement = statementFile("placement/move-stay.sql");
const leaveStatement = statementFile("placement/move-leave.sql");

/** Values are kept apart from their rows if they are long, so the rows and bytes are limited. */
const attributeRowsMax = 2_000;
const bytesMax = 4_000_000;
const changesMax = 5_000;
/** A text may be long. */
const schemasMax = 5;
const bundlesMax = 50;

const hidings = ["hidden", "gone", "busy"] as const;

/** A part of a table. */
export interface Blocks {
  readonly from: number;
  readonly count: number;
}

/** A page of rows as the target takes it: a json text. */
export interface CopiedRows {
  readonly rows: number;
  readonly text: string;
}

/** Where a page of changes ends. */
export interface ChangePlace {
  readonly xid: string;
  readonly ordinal: number;
}

/** A page of changes: the rows of all keys that they name, as they are now. */
export interface ChangedRows {
  readonly changes: number;
  /** Undefined if there is no change. */
  readonly last: ChangePlace | undefined;
  readonly tuples: string;
  readonly absentTuples: string;
  readonly attributes: string;
  readonly touchedAttributes: string;
  readonly tally: string;
}

/** What a copy begins with. */
export interface SourceState {
  readonly snapshot: string;
  readonly horizon: string;
  readonly tupleBlocks: number;
  readonly attributeBlocks: number;
  readonly files: string;
}

/** The tenant at the source. */
export interface Departure {
  readonly number: string;
  /** Whether the source refuses it for the move. */
  readonly isHidden: boolean;
  /** Whether it was deleted since the move began. */
  readonly isGone: boolean;
}

/** The database that a tenant leaves. */
export class MoveSource extends MoveSide {
  /** By whom the tenant is moved, as it is noted here. Other statements do nothing if another name is noted by then. */
  #holder = this.mover;

  /**
   * Notes the move. Undefined if there is no such tenant, nor was one moved. Each time it is noted under another name: a
   * statement of before whose connection was lost may still wait at the server, and must not refuse the tenant later.
   */
  async depart(tenant: TenantId): Promise<Departure | undefined> {
    this.#holder = randomUUID();
    const [row] = await this.query(departStatement, [tenant, this.#holder]);
    return (
      row && {
        number: textOf(row, "number"),
        isHidden: booleanOf(row, "is_hidden"),
        isGone: booleanOf(row, "is_gone"),
      }
    );
  }

  /** Goes on with what another process has begun here, if it has. */
  async takeOver(tenant: TenantId): Promise<void> {
    await this.query(takeStatement, [tenant, this.#holder]);
  }

  async state(): Promise<SourceState> {
    const row = await this.one(stateStatement, []);
    return {
      snapshot: durableSnapshotOf(row),
      horizon: textOf(row, "horizon"),
      tupleBlocks: numberOf(row, "tuple_blocks"),
      attributeBlocks: numberOf(row, "attribute_blocks"),
      files: textOf(row, "files"),
    };
  }

  /** The tuples of some blocks. */
  async tuples(number: string, { from, count }: Blocks): Promise<CopiedRows> {
    const range = [`(${from},0)`, `(${from + count},0)`];
    const row = await this.one(tuplesStatement, [number, ...range]);
    return { rows: numberOf(row, "count"), text: textOf(row, "tuples") };
  }

  /**
   * The first attributes of some blocks, behind a place in them if one is given. `last` is the place of the last
   * one, undefined if there is none.
   */
  async attributes(
    number: string,
    { from, count }: Blocks,
    after = `(${from},0)`,
  ): Promise<CopiedRows & { readonly last: string | undefined }> {
    const end = `(${from + count},0)`;
    const values = [number, after, end, attributeRowsMax, bytesMax];
    const row = await this.one(attributesStatement, values);
    return {
      rows: numberOf(row, "count"),
      text: textOf(row, "attributes"),
      last: optionalTextOf(row, "last"),
    };
  }

  /** A page of what transactions of these ranges have changed. Fails with UNAVAILABLE if some of it is gone. */
  async changes(
    number: string,
    ranges: readonly XidRange[],
    { xid, ordinal }: ChangePlace,
    oldest: string,
  ): Promise<ChangedRows> {
    const row = await this.one(changesStatement, [
      number,
      arrayLiteral(ranges.map(({ start }) => String(start))),
      arrayLiteral(ranges.map(({ end }) => String(end))),
      xid,
      ordinal,
      changesMax,
      bytesMax,
    ]);
    if (BigInt(textOf(row, "horizon")) > BigInt(oldest)) throw logIsGone();
    const last = optionalTextOf(row, "xid");
    return {
      changes: numberOf(row, "changes"),
      last: last === undefined ? undefined : { xid: last, ordinal: numberOf(row, "ordinal") },
      tuples: textOf(row, "tuples"),
      absentTuples: textOf(row, "absent_tuples"),
      attributes: textOf(row, "attributes"),
      touchedAttributes: textOf(row, "touched_attributes"),
      tally: textOf(row, "tally"),
    };
  }

  async schemas(number: string, after: string): Promise<TextPage> {
    const row = await this.one(schemasStatement, [number, after, schemasMax]);
    return { text: textOf(row, "schemas"), last: optionalTextOf(row, "last") };
  }

  async bundles(number: string, after: string): Promise<TextPage> {
    const row = await this.one(bundlesStatement, [number, after, bundlesMax]);
    return { text: textOf(row, "bundles"), last: optionalTextOf(row, "last") };
  }

  /** Refuses the tenant from now on. `gone`: it was deleted, or another process moves it. */
  async hide(number: string, waitMs: number): Promise<(typeof hidings)[number]> {
    const values = [number, this.#holder, `${Math.max(1, Math.round(waitMs))}ms`];
    return oneOf(await this.one(hideStatement, values), "outcome", hidings);
  }

  /** The tenant as it was when the source began to refuse it, as json. */
  async hidden(number: string): Promise<string> {
    return textOf(await this.one(hiddenStatement, [number]), "hidden");
  }

  /** Serves the tenant again. False if it was deleted, or another process moves it. */
  async show(number: string): Promise<boolean> {
    return booleanOf(await this.one(showStatement, [number, this.#holder]), "is_shown");
  }

  /** An id above those of all transactions that have found the tenant so far. */
  async writersBelow(): Promise<string> {
    return textOf(await this.one(writersStatement, []), "xid");
  }

  /** Have they ended? */
  async isQuietBelow(xid: string): Promise<boolean> {
    return booleanOf(await this.one(quietStatement, [xid]), "is_quiet");
  }

  /** Forgets the move of a tenant that stays. Fails with SERIALIZATION if another process has put its name there. */
  async stay(tenant: TenantId): Promise<void> {
    this.refuseOthers(await this.one(stayStatement, [tenant, this.#holder]));
  }

  /**
   * Leaves the rows of a tenant that has moved to be removed. Fails with SERIALIZATION if another process has put
   * its name there: nothing else would find the rows once the move has ended.
   */
  async leave(tenant: TenantId): Promise<void> {
    this.refuseOthers(await this.one(leaveStatement, [tenant, this.#holder]));
  }
}

/** Schema versions or bundles as json. `last` is undefined if there are no more. */
export interface TextPage {
  readonly text: string;
  readonly last: string | undefined;
}

function logIsGone(): PembaError {
  return new PembaError(
    "UNAVAILABLE",
    "garbage collection has removed changes that the move needs, take the move back with --revert and begin anew, with a higher rate or a longer `database.garbage_collection.window`",
  );
}
