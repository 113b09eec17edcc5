import assert from "node:assert/strict";

import { must } from "../../src/base/assert.ts";
import type { SnapToken, Tuple } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { firstTenant } from "../../test/data/ask-store.ts";
import type { ChangeLog } from "../../test/data/workload.ts";
import type { ReadClient } from "../clients/client.ts";

/**
 * Reads pages of the log: each opens a stream where the page before ended, and leaves it once it has so
 * many changes (whole transactions).
 *
 * @param tokens the states before and after each transaction
 * @returns reads the page of a number; fails when it is not what was written
 */
export function readPageOf(
  client: ReadClient,
  log: ChangeLog,
  tokens: readonly SnapToken[],
): (nth: number) => Promise<void> {
  const perPage = transactionsOfPage(log);
  return async (nth) => {
    const first = (nth % pagesOf(log)) * perPage;
    const wanted = Array.from({ length: perPage }, (_, at) => idsOf(log, first + at));
    const after = must(tokens[first], "one for each transaction, and one before");
    assert.deepEqual(await readPage(client, after, perPage), wanted);
  };
}

/** How many pages the log has. */
export function pagesOf(log: ChangeLog): number {
  return Math.floor(log.transactions / transactionsOfPage(log));
}

function transactionsOfPage({ pageSize, changes }: ChangeLog): number {
  return Math.ceil(pageSize / changes);
}

/** Writes the log anew. @returns the states before and after each transaction */
export async function writeLog(store: Store, log: ChangeLog): Promise<readonly SnapToken[]> {
  const { entityType } = log;
  const subject = { type: "", ids: [], relation: "" };
  const tuples = { entity: { type: entityType, ids: [] }, relation: "", subject };
  const tokens = [await store.data.delete(firstTenant, { tuples, attributes: undefined })];
  for (let nth = 0; nth < log.transactions; nth++) {
    const written = idsOf(log, nth).map((id) => tupleOf(log, id));
    const data = { schemaVersion: undefined, tuples: written, attributes: [] };
    tokens.push(await store.data.write(firstTenant, data));
  }
  return tokens;
}

async function readPage(
  client: ReadClient,
  after: SnapToken,
  transactions: number,
): Promise<readonly (readonly string[])[]> {
  const end = new AbortController();
  const read: (readonly string[])[] = [];
  try {
    for await (const ids of client.follow(after, end.signal)) {
      // A message without changes only brings a new token.
      if (ids.length > 0 && read.push(ids.toSorted(byNumber)) === transactions) break;
    }
    return read;
  } finally {
    end.abort();
  }
}

function idsOf({ changes }: ChangeLog, transaction: number): readonly string[] {
  return Array.from({ length: changes }, (_, nth) => String(transaction * changes + nth));
}

function tupleOf({ entityType }: ChangeLog, id: string): Tuple {
  return {
    entity: { type: entityType, id },
    relation: "viewer",
    subject: { type: "user", id: "maria", relation: "" },
  };
}

const byNumber = (one: string, other: string): number => Number(one) - Number(other);
