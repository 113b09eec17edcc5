import assert from "node:assert/strict";

import { must } from "../../src/base/assert.ts";
import type { SnapToken, Tuple } from "../../src/base/tuple.ts";
import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import type { Store } from "../../src/store/store.ts";
import { benchTenant } from "../store.ts";
import type { ChangeLog } from "../workload.ts";
import type { Asked, Works } from "./way.ts";

/** The entity ids of the tuples of one transaction. */
type Told = readonly string[];

/** Opens a stream after a state, and gives what each of its transactions wrote until it is left. */
type Follow = (asked: Asked, after: SnapToken, signal: AbortSignal) => AsyncGenerator<Told>;

/**
 * Writes the log of changes anew, then reads pages of it: each opens a stream where the page before
 * ended, and leaves it once that has told of so many changes (whole transactions).
 */
export async function changeWorks(asked: Asked, log: ChangeLog): Promise<Works> {
  const tokens = await writeLog(asked.store, log);
  const perPage = transactionsOfPage(log);
  const pages = pagesOf(log);
  const workOf = (follow: Follow) => async (nth: number) => {
    const first = (nth % pages) * perPage;
    const wanted = Array.from({ length: perPage }, (_, at) => idsOf(log, first + at));
    const after = must(tokens[first], "one for each transaction, and one before");
    assert.deepEqual(await readPage(asked, follow, after, perPage), wanted);
  };
  return { engine: workOf(ofEngine), rest: workOf(overRest), grpc: workOf(overGrpc) };
}

/** How many pages the log has. */
export function pagesOf(log: ChangeLog): number {
  return Math.floor(log.transactions / transactionsOfPage(log));
}

function transactionsOfPage({ pageSize, changes }: ChangeLog): number {
  return Math.ceil(pageSize / changes);
}

/** Also what an earlier run has left is gone then. Gives the states before and after each. */
async function writeLog(store: Store, log: ChangeLog): Promise<readonly SnapToken[]> {
  const { entityType } = log;
  const subject = { type: "", ids: [], relation: "" };
  const tuples = { entity: { type: entityType, ids: [] }, relation: "", subject };
  const tokens = [await store.data.delete(benchTenant, { tuples, attributes: undefined })];
  for (let nth = 0; nth < log.transactions; nth++) {
    const written = idsOf(log, nth).map((id) => tupleOf(log, id));
    const data = { schemaVersion: undefined, tuples: written, attributes: [] };
    tokens.push(await store.data.write(benchTenant, data));
  }
  return tokens;
}

async function readPage(
  asked: Asked,
  follow: Follow,
  after: SnapToken,
  transactions: number,
): Promise<readonly Told[]> {
  const end = new AbortController();
  const told: Told[] = [];
  try {
    for await (const each of follow(asked, after, end.signal)) {
      // A message without changes only brings a new token.
      if (each.length > 0 && told.push(each.toSorted(byNumber)) === transactions) break;
    }
    return told;
  } finally {
    end.abort();
  }
}

async function* ofEngine(
  { store }: Asked,
  after: SnapToken,
  signal: AbortSignal,
): AsyncGenerator<Told> {
  const { messages } = await store.changes.follow(benchTenant, { after, signal });
  for await (const { changes } of messages) {
    yield changes.flatMap((change) => (change.kind === "tuple" ? [change.tuple.entity.id] : []));
  }
}

interface Line {
  readonly data_changes: {
    readonly changes: readonly { readonly tuple: { readonly entity: { readonly id: string } } }[];
  };
}

async function* overRest(
  { url }: Asked,
  after: SnapToken,
  signal: AbortSignal,
): AsyncGenerator<Told> {
  const response = await fetch(`${url}/v1/tenants/${benchTenant}/watch`, {
    method: "POST",
    body: JSON.stringify({ snap_token: after }),
    signal,
  });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") continue;
      const { data_changes: told }: Line = JSON.parse(line);
      yield told.changes.map(({ tuple }) => tuple.entity.id);
    }
  }
}

async function* overGrpc(
  { clients: { grpc } }: Asked,
  after: SnapToken,
  signal: AbortSignal,
): AsyncGenerator<Told> {
  const request = { tenantId: benchTenant, snapToken: after };
  for await (const { changes } of grpc.stream(Watch.method.watch, request, { signal })) {
    yield (changes?.dataChanges ?? []).flatMap(({ type }) =>
      type.case === "tuple" ? [type.value.entity?.id ?? ""] : [],
    );
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
