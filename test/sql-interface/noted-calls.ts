import assert from "node:assert/strict";

import {
  isVisible,
  parseSnapshot,
  type Snapshot,
} from "../../src/store/postgres/token/snapshot.ts";
import type { Change } from "../store/change-log.ts";

/** A moment within a transaction. */
export interface Moment {
  /** As the server prints it. */
  readonly snapshot: string;
  /** How many changes the transaction had logged. */
  readonly logged: number;
}

/** A call of an open transaction. */
export interface NotedCall {
  readonly xid: string;
  /** What each key must have had at some moment of the call: a value as `Change` has it, or nothing. */
  readonly wanted: ReadonlyMap<string, string | undefined>;
  readonly before: Moment;
  readonly after: Moment;
}

/** Where a change stands in the log. */
interface Place {
  readonly xid: bigint;
  readonly ordinal: number;
}

/** What a key had for a while. */
interface Version {
  readonly value: string;
  readonly created: Place;
  readonly deleted: Place | undefined;
}

/** What a transaction sees at a moment: its own changes, and those of others that its snapshot shows. */
interface View {
  readonly xid: bigint;
  readonly snapshot: Snapshot;
  readonly logged: number;
}

/**
 * Fails if a call had no effect on a key: if at no moment from before it until after it the key was without
 * a version, or had the value, as the call wanted. Another transaction may change the key right before the
 * call or right after it. What the log shows for the time between tells the two apart.
 * @param changes the whole log, in its order
 */
export function assertEffective(changes: readonly Change[], calls: readonly NotedCall[]): void {
  const versions = versionsOf(changes);
  for (const { xid, wanted, before, after } of calls) {
    const [first, last] = [before, after].map(({ snapshot, logged }) => ({
      xid: BigInt(xid),
      snapshot: parseSnapshot(snapshot),
      logged,
    }));
    assert.ok(first !== undefined && last !== undefined);
    for (const [key, value] of wanted) {
      const between = (versions.get(key) ?? []).filter(
        ({ created, deleted }) =>
          shows(last, created) && !(deleted !== undefined && shows(first, deleted)),
      );
      if (value === undefined) {
        assert.ok(hasGap(between, first, last), `the delete of ${key} by ${xid} is lost`);
      } else {
        const isThere = between.some((version) => version.value === value);
        assert.ok(isThere, `the write of ${key} by ${xid} is lost`);
      }
    }
  }
}

/** Whether a key with these versions was without one at some moment between two views. */
function hasGap(versions: readonly Version[], first: View, last: View): boolean {
  const [earliest, latest] = [versions.at(0), versions.at(-1)];
  if (earliest === undefined || latest === undefined) return true;
  if (!shows(first, earliest.created)) return true;
  if (latest.deleted !== undefined && shows(last, latest.deleted)) return true;
  return versions.some(({ created }, index) => {
    const former = versions[index - 1];
    // A transaction that puts one version in the place of another leaves no moment between.
    return former !== undefined && former.deleted?.xid !== created.xid;
  });
}

function shows({ xid, snapshot, logged }: View, place: Place): boolean {
  return place.xid === xid ? place.ordinal < logged : isVisible(snapshot, place.xid);
}

function versionsOf(changes: readonly Change[]): ReadonlyMap<string, readonly Version[]> {
  const versions = new Map<string, Version[]>();
  for (const { key, value, operation, xid, ordinal } of changes) {
    const ofKey = versions.get(key) ?? [];
    versions.set(key, ofKey);
    const place = { xid: BigInt(xid), ordinal };
    if (operation === "create") {
      ofKey.push({ value, created: place, deleted: undefined });
      continue;
    }
    const former = ofKey.pop();
    assert.ok(former !== undefined && former.deleted === undefined, `${key} was not there`);
    ofKey.push({ ...former, deleted: place });
  }
  return versions;
}
