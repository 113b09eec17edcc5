import { assert, must } from "../../../base/assert.ts";
import { expiredSnapToken, invalidSnapToken, snapTokenBeforeTenant } from "../../store-error.ts";
import { type Row, booleanOf, numberOf, textOf } from "../connect/row.ts";

/**
 * A Postgres snapshot: transactions below `xmax` are visible, those in `running` are not. Ranges
 * are ascending, apart from each other, below xmax, and their `end` is not in them.
 */
export interface Snapshot {
  readonly xmax: bigint;
  readonly running: readonly XidRange[];
}

export interface XidRange {
  readonly start: bigint;
  readonly end: bigint;
}

/** The lower half of the first id that a transaction may have, in each of its rounds. */
const firstId = 3n;

/** Whether a transaction may have the id: the lower half of none is 0, 1 or 2. */
export function isId(xid: bigint): boolean {
  return (xid & 0xffff_ffffn) >= firstId;
}

/** Whether the snapshot shows what the transaction changed. */
export function isVisible({ xmax, running }: Snapshot, xid: bigint): boolean {
  return xid < xmax && running.every(({ start, end }) => xid < start || xid >= end);
}

/** Reads `xmin:xmax:xip,xip...` as the server prints it. */
export function parseSnapshot(text: string): Snapshot {
  const [, xmax, running] = text.split(":");
  assert(xmax !== undefined && running !== undefined, `not a snapshot: ${text}`);
  const xids = running === "" ? [] : running.split(",").map(BigInt);
  return { xmax: BigInt(xmax), running: rangesOf(xids) };
}

/** Prints a snapshot for a parameter with the cast `::pg_snapshot`. */
export function printSnapshot({ xmax, running }: Snapshot): string {
  const xids: string[] = [];
  for (const { start, end } of running) {
    for (let xid = start; xid < end; xid++) xids.push(String(xid));
  }
  return `${running[0]?.start ?? xmax}:${xmax}:${xids.join(",")}`;
}

/** What the statement of a row shows for certain, if it tells. */
export function shownBy(row: Row | undefined): string | undefined {
  return row?.["shown"] === undefined ? undefined : textOf(row, "shown");
}

/**
 * The snapshot in which also the transaction `xid` is visible. When it lies above xmax, xmax is
 * raised past it, and every id in between counts as running: one that is still open must not
 * appear in this snapshot when it commits.
 */
export function withVisible({ xmax, running }: Snapshot, xid: bigint): Snapshot {
  if (xid >= xmax) {
    const between = { start: xmax, end: xid };
    return {
      xmax: idAfter(xid),
      running: xid === xmax ? running : joinRanges([...running, between]),
    };
  }
  return {
    xmax,
    running: running.flatMap(({ start, end }) =>
      xid < start || xid >= end
        ? [{ start, end }]
        : [
            { start, end: xid },
            { start: idAfter(xid), end },
          ].filter((range) => range.start < range.end),
    ),
  };
}

/** Shows what either of them shows. */
export function unionOf(one: Snapshot, other: Snapshot): Snapshot {
  return fromHidden(overlaps(hiddenIn(one), hiddenIn(other)));
}

/** Shows what the snapshot shows of the ids below `xid`. */
export function shownBelow(snapshot: Snapshot, xid: bigint): Snapshot {
  const below = hiddenIn(snapshot)
    .filter(({ start }) => start < xid)
    .map(({ start, end }) => ({ start, end: end < xid ? end : xid }));
  return fromHidden(joinRanges([...below, { start: xid, end: endless }]));
}

/** The ids that `goal` shows and `seen` does not. */
export function shownSince(seen: Snapshot, goal: Snapshot): readonly XidRange[] {
  const gaps: XidRange[] = [];
  let start = 0n;
  for (const hidden of hiddenIn(goal)) {
    if (hidden.start > start) gaps.push({ start, end: hidden.start });
    start = hidden.end;
  }
  return overlaps(hiddenIn(seen), gaps);
}

/** Ids are 64 bits wide. */
const endless = 1n << 64n;

/** The ids that the snapshot does not show: ascending and apart, the last range is endless. */
function hiddenIn({ xmax, running }: Snapshot): readonly XidRange[] {
  return joinRanges([...running, { start: xmax, end: endless }]);
}

function fromHidden(hidden: readonly XidRange[]): Snapshot {
  const last = must(hidden.at(-1), "no snapshot shows every id");
  return { xmax: last.start, running: hidden.slice(0, -1) };
}

/** What is in both; each list is ascending and its ranges apart. */
function overlaps(ones: readonly XidRange[], others: readonly XidRange[]): readonly XidRange[] {
  const common: XidRange[] = [];
  let position = 0;
  for (const one of ones) {
    for (; position < others.length; position++) {
      const other = must(others[position], "the position is in the list");
      const start = one.start > other.start ? one.start : other.start;
      const end = one.end < other.end ? one.end : other.end;
      if (start < end) common.push({ start, end });
      // The other one reaches into what comes next.
      if (other.end > one.end) break;
    }
  }
  return common;
}

/** The id after `xid`: no transaction has one whose lower half is 0, 1 or 2. */
export function idAfter(xid: bigint): bigint {
  const next = xid + 1n;
  const lower = next & 0xffff_ffffn;
  return lower < firstId ? next + firstId - lower : next;
}

function rangesOf(xids: readonly bigint[]): readonly XidRange[] {
  return joinRanges(xids.map((xid) => ({ start: xid, end: xid + 1n })));
}

/** Makes one range of neighbours; the ranges are ascending. */
function joinRanges(ranges: readonly XidRange[]): readonly XidRange[] {
  const joined: XidRange[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last !== undefined && last.end === range.start) {
      joined[joined.length - 1] = { start: last.start, end: range.end };
    } else {
      joined.push(range);
    }
  }
  return joined;
}

/** What a token says of a state that was looked at. */
export interface NamedState {
  /** Shows durable ids only: a crash gives out none of them again. */
  readonly snapshot: Snapshot;
  /** A transaction with an id from here on began after the state was looked at. */
  readonly takenBefore: bigint;
}

/**
 * The state that the server showed, without the ids above `durable`, the last one that is durable. No change
 * is logged under them, so the state is the same.
 */
export function namedState(shown: Snapshot, durable: bigint): NamedState {
  return { snapshot: shownBelow(shown, idAfter(durable)), takenBefore: shown.xmax };
}

/** From a row with the columns `snapshot` and `durable`. */
export function namedStateOf(row: Row): NamedState {
  return namedState(parseSnapshot(textOf(row, "snapshot")), BigInt(textOf(row, "durable")));
}

/** Which server this is, and what it shows at a moment. */
export interface ServerState extends NamedState {
  /** The cluster and database, as `open_installation()` names them. */
  readonly place: string;
  readonly timeline: number;
}

/** From a row with the columns `place`, `timeline`, `snapshot` and `durable`. */
export function serverState(row: Row): ServerState {
  return {
    place: textOf(row, "place"),
    timeline: numberOf(row, "timeline"),
    ...namedStateOf(row),
  };
}

/**
 * Fails when the row of a pinned statement (with `pinColumns`) says that its snapshot
 * could not be read: with INVALID_SNAP_TOKEN or SNAP_TOKEN_EXPIRED.
 */
export function refuseSnapshot(row: Row): void {
  if (booleanOf(row, "is_lost")) {
    throw invalidSnapToken(
      "names a state that may have been lost when another server took over, use a newer one",
    );
  }
  if (booleanOf(row, "is_future")) {
    throw invalidSnapToken(
      "names a state that the database has not reached, or a change that is not committed yet",
    );
  }
  if (booleanOf(row, "is_partial")) {
    throw invalidSnapToken(
      "was taken before the last write of its transaction, or in a part that was undone, take it after that",
    );
  }
  if (booleanOf(row, "is_before_tenant")) throw snapTokenBeforeTenant();
  if (booleanOf(row, "is_expired")) throw expiredSnapToken();
}
