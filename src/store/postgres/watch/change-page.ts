import type { SnapToken } from "../../../base/tuple.ts";
import { attributeValueOf } from "../../attribute-value.ts";
import { type Change, messageBytesMax, messageChangesMax } from "../../change.ts";
import type { Database } from "../connect/database.ts";
import { numberOf, oneOf, optionalTextOf, type Row, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { arrayLiteral } from "../connect/value.ts";
import type { TokenContent } from "../token/snap-token-codec.ts";
import {
  type NamedState,
  type ServerState,
  type Snapshot,
  idAfter,
  shownBelow,
  shownSince,
  unionOf,
} from "../token/snapshot.ts";

const pageStatement = statementFile("changes/page.sql");

/** A place in the log of a tenant. */
interface LogPosition {
  readonly xid: bigint;
  readonly ordinal: number;
}

/** How far a stream has come from one state to a later one. */
export interface LogCursor {
  /** Number of the tenant. */
  readonly tenant: string;
  /** What is visible here has been delivered. */
  readonly seen: Snapshot;
  /** Transactions with ids from here on began when all that is visible in `seen` was committed. */
  readonly settledBefore: bigint;
  /** What is visible there and not in `seen` is to be delivered, in the order of transaction ids. */
  readonly goal: NamedState;
  /** Of that, what lies up to here has been delivered. */
  readonly after: LogPosition | undefined;
}

/** The changes of a transaction, or a part of them. */
export interface PageMessage {
  readonly changes: readonly Change[];
  /** Of the state after the transaction; undefined when another part of it follows. */
  readonly snapToken: SnapToken | undefined;
}

export interface ChangePage {
  readonly messages: readonly PageMessage[];
  /** Where to go on; undefined when the goal is reached. */
  readonly next: LogCursor | undefined;
}

/** What a token says of the state after a message. */
type ToldState = Pick<TokenContent, "snapshot" | "change" | "takenBefore">;
type TokenOf = (state: ToldState) => SnapToken;

/** Why there is no page. */
export type NoPage = "tenant_gone" | "expired" | "other_server";

/**
 * What follows at a cursor: at most `transactionsMax` transactions, or a part of a single one that is
 * larger than a message. `tokenOf` makes the token of a state.
 */
export async function readChangePage(
  database: Database,
  cursor: LogCursor,
  {
    server,
    transactionsMax,
    tokenOf,
  }: {
    /** The one whose transaction ids the cursor holds. */
    readonly server: Pick<ServerState, "place" | "timeline">;
    readonly transactionsMax: number;
    readonly tokenOf: TokenOf;
  },
): Promise<ChangePage | NoPage> {
  const { after, tenant } = cursor;
  const ranges = shownSince(cursor.seen, cursor.goal.snapshot).filter(
    ({ end }) => after === undefined || end > after.xid,
  );
  const [first] = ranges;
  if (first === undefined) return { messages: [], next: undefined };
  const rows = await database.read(pageStatement, [
    tenant,
    arrayLiteral(ranges.map(({ start }) => String(start))),
    arrayLiteral(ranges.map(({ end }) => String(end))),
    String(after?.xid ?? 0),
    after?.ordinal ?? 0,
    messageChangesMax,
    messageBytesMax,
    transactionsMax,
  ]);
  const [row] = rows;
  if (row === undefined) return "tenant_gone";
  const isSame =
    textOf(row, "place") === server.place && numberOf(row, "timeline") === server.timeline;
  if (!isSame) return "other_server";
  const needed = after !== undefined && after.xid > first.start ? after.xid : first.start;
  if (needed < BigInt(textOf(row, "horizon"))) return "expired";
  if (row["xid"] === null) return { messages: [], next: undefined };
  return pageOf(cursor, rows, tokenOf);
}

/** The changes of one transaction on a page. */
interface TransactionChanges {
  readonly xid: bigint;
  readonly changes: readonly Change[];
  readonly last: LogPosition;
  /** False when the page ends before the transaction does. */
  readonly isWhole: boolean;
}

function pageOf(cursor: LogCursor, rows: readonly Row[], tokenOf: TokenOf): ChangePage {
  const groups = groupsOf(rows);
  // A transaction that is cut off is delivered from its start on the next page, unless it fills this one.
  const delivered = groups.length === 1 ? groups : groups.filter(({ isWhole }) => isWhole);
  const messages = delivered.map(({ xid, changes, isWhole }, index) => {
    const isFirst = cursor.after === undefined && index === 0;
    return { changes, snapToken: isWhole ? tokenOf(stateAfter(cursor, xid, isFirst)) : undefined };
  });
  const isEnd = rows.at(-1)?.["next_xid"] === null;
  return { messages, next: isEnd ? undefined : { ...cursor, after: delivered.at(-1)?.last } };
}

/** After a transaction, which is the first towards the target or not. */
function stateAfter(
  { seen, goal, settledBefore }: LogCursor,
  xid: bigint,
  isFirst: boolean,
): ToldState {
  // What began when all else was committed is kept only where all else is.
  const isNewest = isFirst && xid >= settledBefore;
  return {
    snapshot: unionOf(seen, shownBelow(goal.snapshot, idAfter(xid))),
    change: isNewest ? xid : undefined,
    takenBefore: goal.takenBefore > settledBefore ? goal.takenBefore : settledBefore,
  };
}

function groupsOf(rows: readonly Row[]): readonly TransactionChanges[] {
  const groups: TransactionChanges[] = [];
  let changes: Change[] = [];
  for (const row of rows) {
    changes.push(changeOf(row));
    const xid = textOf(row, "xid");
    const isLast = row === rows.at(-1);
    const isWhole = optionalTextOf(row, "next_xid") !== xid;
    if (!isWhole && !isLast) continue;
    const last = { xid: BigInt(xid), ordinal: numberOf(row, "ordinal") };
    groups.push({ xid: last.xid, changes, last, isWhole });
    changes = [];
  }
  return groups;
}

function changeOf(row: Row): Change {
  const operation = oneOf(row, "operation", ["create", "delete"]);
  const entity = { type: textOf(row, "entity_type"), id: textOf(row, "entity_id") };
  const relation = optionalTextOf(row, "relation");
  if (relation === undefined) {
    const value = attributeValueOf(textOf(row, "value_type"), row["value"]);
    const attribute = { entity, attribute: textOf(row, "attribute"), value };
    return { operation, kind: "attribute", attribute };
  }
  const subject = {
    type: textOf(row, "subject_type"),
    id: textOf(row, "subject_id"),
    relation: textOf(row, "subject_relation"),
  };
  return { operation, kind: "tuple", tuple: { entity, relation, subject } };
}
