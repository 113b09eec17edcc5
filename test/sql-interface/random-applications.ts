import assert from "node:assert/strict";

import type postgres from "postgres";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import {
  isVisible,
  parseSnapshot,
  type Snapshot,
} from "../../src/store/postgres/token/snapshot.ts";
import type { Change } from "../store/change-log.ts";
import type { Dice } from "../support/dice.ts";
import { someAttributes, someTuples } from "./random-writes.ts";

/** Sends a statement of an open transaction, whatever the driver. */
export type Statement = <Row extends object>(
  text: TemplateStringsArray,
  ...values: readonly (string | readonly string[])[]
) => PromiseLike<readonly Row[]>;

export function statementOf(inside: postgres.TransactionSql): Statement {
  return <Row extends object>(
    text: TemplateStringsArray,
    ...values: readonly (string | readonly string[])[]
  ) => inside<Row[]>(text, ...values);
}

/** A call that deletes by names, and what was there before and after it. */
export interface DeleteCall {
  readonly xid: string;
  /** As `Change` has them. */
  readonly keys: readonly string[];
  readonly before: string;
  readonly after: string;
}

/** One call of a function. Adds it to `deletes` if it deletes by names. */
export async function callOnce(
  inside: Statement,
  tenant: TenantId,
  die: Dice,
  deletes: DeleteCall[] = [],
): Promise<void> {
  const { upTo } = die;
  const deleting = async (keys: readonly string[], call: () => PromiseLike<unknown>) => {
    const { snapshot: before } = await stateOf(inside);
    await call();
    const { xid, snapshot: after } = await stateOf(inside);
    // Without an id it has found nothing, and nothing was in its way.
    if (xid !== null) deletes.push({ xid, keys, before, after });
  };
  switch (upTo(9)) {
    case 0:
      await inside`select pemba.write_tuple(${tenant}, 'doc', ${String(upTo(6))}, 'owner', 'user', ${String(upTo(2))})`;
      break;
    case 1:
    case 2:
      await inside`select pemba.write_tuples(${tenant}, ${someTuples(die, 12)}::text[])`;
      break;
    case 3:
    case 4: {
      const tuples = someTuples(die, upTo(2) === 0 ? 1 : 8);
      await deleting(
        tuples.map(keyOfTuple),
        () => inside`select pemba.delete_tuples(${tenant}, ${tuples}::text[])`,
      );
      break;
    }
    case 5:
    case 6: {
      const given = someAttributes(die).map(({ entity, attribute, value }) => ({
        entity,
        attribute,
        value: { "@type": "base.v1.IntegerValue", data: value.data },
      }));
      await inside`select pemba.write_attributes(${tenant}, ${JSON.stringify(given)}::text::jsonb)`;
      break;
    }
    case 7: {
      const ids = someAttributes(die).map(({ entity }) => entity.id);
      const names = ids.map((id) => `doc:${id}$limit`);
      // It may come before one that overwrites the value at the same time, and is not noted.
      await inside`select pemba.delete_attributes(${tenant}, ${names}::text[])`;
      break;
    }
    default:
      await inside`select pemba.delete_entity(${tenant}, 'doc', ${String(upTo(6))})`;
  }
}

/** `doc:1#owner@user:2` as the key of a change. */
function keyOfTuple(text: string): string {
  const [, type, id, relation, subjectType, subjectId] =
    /^(\w+):(\w+)#(\w+)@(\w+):(\w+)$/.exec(text) ?? assert.fail(text);
  return `${type} ${id} ${relation} ${subjectType} ${subjectId} `;
}

interface State {
  readonly xid: string | null;
  readonly snapshot: string;
}

async function stateOf(inside: Statement): Promise<State> {
  const [row] = await inside<State>`
    select pg_current_xact_id_if_assigned()::text as xid, pg_current_snapshot()::text as snapshot
  `;
  return row ?? assert.fail("no state");
}

/** The token of the state that the transaction sees. */
export async function tokenOf(inside: Statement, tenant: TenantId): Promise<SnapToken> {
  const [row] = await inside<{ token: SnapToken }>`select pemba.token(${tenant})`;
  return row?.token ?? assert.fail("no token");
}

/** What a key had for a while: from one transaction to another. */
interface Version {
  readonly created: bigint;
  readonly deleted: bigint | undefined;
}

/**
 * Fails if a call has left alone what it should have deleted: there was a version of the key before it and
 * there is another one after it, although every transaction in between took one away and put the next one
 * in its place, so that there never was a moment without it.
 */
export function assertNoDeleteLost(changes: readonly Change[], calls: readonly DeleteCall[]): void {
  const versions = versionsOf(changes);
  for (const { xid, keys, before, after } of calls) {
    for (const key of keys) {
      const ofKey = versions.get(key) ?? [];
      const first = versionIn(ofKey, parseSnapshot(before));
      const last = versionIn(ofKey, parseSnapshot(after));
      if (first < 0 || last <= first) continue;
      const steps = ofKey.slice(first, last);
      const isReplaced = steps.every(
        ({ deleted }, step) => deleted === ofKey[first + step + 1]?.created,
      );
      const isDeleted = steps.some(({ deleted }) => String(deleted) === xid);
      assert.ok(isDeleted || !isReplaced, `the delete of ${key} by ${xid} is lost`);
    }
  }
}

function versionsOf(changes: readonly Change[]): ReadonlyMap<string, readonly Version[]> {
  const versions = new Map<string, Version[]>();
  for (const { key, operation, xid } of changes) {
    const ofKey = versions.get(key) ?? [];
    versions.set(key, ofKey);
    if (operation === "create") ofKey.push({ created: BigInt(xid), deleted: undefined });
    else {
      const { created } = ofKey.pop() ?? assert.fail(`${key} was not there`);
      ofKey.push({ created, deleted: BigInt(xid) });
    }
  }
  return versions;
}

/** The place of the version that a snapshot shows; -1 if it shows none. */
function versionIn(versions: readonly Version[], snapshot: Snapshot): number {
  return versions.findLastIndex(
    ({ created, deleted }) =>
      isVisible(snapshot, created) && !(deleted !== undefined && isVisible(snapshot, deleted)),
  );
}
