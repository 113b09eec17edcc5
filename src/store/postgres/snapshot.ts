import { assert } from "../../base/assert.ts";

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

/** The id after `xid`: no transaction has one whose lower half is 0, 1 or 2. */
function idAfter(xid: bigint): bigint {
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
