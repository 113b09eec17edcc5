import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { SchemaVersion, SnapToken } from "../../src/base/tuple.ts";
import { createHealth } from "../../src/service/health.ts";
import type { LookupResult } from "../../src/service/lookup-page.ts";
import {
  lookupEntity,
  type LookupEntityRequest,
  lookupEntityStream,
} from "../../src/service/lookups.ts";
import type { Service } from "../../src/service/service.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { LookupEntityQuestion, LookupPage } from "../../src/store/store.ts";

/*
 * The store is one that notes what it is asked, since how a stream reads is not seen from outside.
 */

const request: LookupEntityRequest = {
  tenantId: "t1",
  metadata: {},
  entityType: "doc",
  permission: "view",
  subject: { type: "user", id: "ada" },
};

const idOf = (number: number): string => String(number).padStart(6, "0");

const versionOf = (number: number): SchemaVersion =>
  String(number).padStart(20, "0") as SchemaVersion;

/** A service over `total` ids, which gives at most `most` of them at once. */
function streaming(
  total: number,
  most = Number.POSITIVE_INFINITY,
): { readonly service: Service; readonly asked: LookupEntityQuestion[] } {
  const asked: LookupEntityQuestion[] = [];
  const store = createMemoryStore({ maxSchemaCacheBytes: 1024 });
  const entities = async (
    _tenant: unknown,
    question: LookupEntityQuestion,
  ): Promise<LookupPage> => {
    asked.push(question);
    const from = question.after === undefined ? 0 : Number(question.after) + 1;
    const to = Math.min(from + Math.min(question.limit, most), total);
    const items = Array.from({ length: to - from }, (_, index) => idOf(from + index));
    return {
      items,
      next: to < total ? items.at(-1) : undefined,
      snapToken: (question.snapToken ?? `state ${asked.length}`) as SnapToken,
      schemaVersion: question.schemaVersion ?? versionOf(asked.length),
    };
  };
  const service = {
    store: { ...store, lookups: { ...store.lookups, entities } },
    health: createHealth(store),
    maxDataPerWrite: 1,
    bulkLimit: 1,
  };
  return { service, asked };
}

async function all(
  service: Service,
  changes: Partial<LookupEntityRequest> = {},
): Promise<LookupResult[]> {
  return await rest(lookupEntityStream(service, { ...request, ...changes }));
}

async function rest(groups: AsyncIterable<readonly LookupResult[]>): Promise<LookupResult[]> {
  const taken: LookupResult[] = [];
  for await (const results of groups) {
    // Each is made in one step.
    assert.ok(results.length > 0 && results.length <= 100);
    taken.push(...results);
  }
  return taken;
}

test("a stream runs to the end, in batches of the state and the schema of the first", async () => {
  const { service, asked } = streaming(30_000);
  const results = await all(service);
  assert.deepEqual(
    results.map(({ id }) => id),
    Array.from({ length: 30_000 }, (_, index) => idOf(index)),
  );
  assert.deepEqual(
    asked.map(({ after, limit, snapToken, schemaVersion }) => [
      after,
      limit,
      snapToken,
      schemaVersion,
    ]),
    [
      [undefined, 1_000, undefined, undefined],
      [idOf(999), 2_000, "state 1", versionOf(1)],
      [idOf(2_999), 4_000, "state 1", versionOf(1)],
      [idOf(6_999), 8_000, "state 1", versionOf(1)],
      [idOf(14_999), 10_000, "state 1", versionOf(1)],
      [idOf(24_999), 10_000, "state 1", versionOf(1)],
    ],
  );
});

test("a stream asks for a batch only when the one before was taken", async () => {
  const { service, asked } = streaming(100_000);
  const groups = lookupEntityStream(service, request);
  for (let taken = 0; taken <= 3_000;) {
    const group = await groups.next();
    assert.equal(asked.length, taken < 1_000 ? 1 : taken < 3_000 ? 2 : 3);
    taken += group.value?.length ?? assert.fail("it goes on");
  }
  await groups.return(undefined);
  assert.equal(asked.length, 3);
});

test("streams that go on in one round of the event loop share a time slice", async (t) => {
  const { service } = streaming(10_000);
  const streams = Array.from({ length: 20 }, () => lookupEntityStream(service, request));
  await Promise.all(streams.map(async (groups) => await groups.next()));
  let clock = 0;
  // Each look at the clock is two milliseconds later.
  t.mock.method(performance, "now", () => (clock += 2));
  let rounds = 0;
  let isOver = false;
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  await Promise.all(streams.map(async (groups) => await groups.next()));
  isOver = true;
  assert.ok(rounds > 15, `${rounds} rounds`);
});

test("page_size caps a stream, also above what a page may have", async () => {
  const { service, asked } = streaming(30_000);
  for (const pageSize of [1, 999, 1_000, 1_001, 12_345]) {
    asked.length = 0;
    const results = await all(service, { pageSize });
    assert.equal(results.length, pageSize);
    assert.notEqual(results.at(-1)?.continuousToken, "");
    assert.equal(
      asked.reduce((sum, { limit }) => sum + limit, 0),
      pageSize,
    );
  }
});

test("a stream resumes from the token of any result, in the state that it had", async () => {
  const { service, asked } = streaming(1_500);
  const results = await all(service);
  for (const place of [0, 1, 998, 999, 1_000, 1_498]) {
    asked.length = 0;
    const { continuousToken } = results[place] ?? assert.fail("no such result");
    const behind = await all(service, { continuousToken });
    assert.deepEqual(behind, results.slice(place + 1));
    assert.equal(asked[0]?.snapToken, "state 1");
  }
  assert.equal(results.at(-1)?.continuousToken, "");
});

test("batches may come shorter than they were asked for", async () => {
  const { service, asked } = streaming(10, 3);
  const results = await all(service);
  assert.equal(results.length, 10);
  assert.deepEqual(
    results.map(({ continuousToken }) => continuousToken === ""),
    Array.from({ length: 10 }, (_, index) => index === 9),
  );
  assert.equal(asked.length, 4);
});

test("a page holds 1,000 ids unless it is asked for others, and never more than 10,000", async () => {
  const { service, asked } = streaming(30_000);
  for (const [pageSize, limit] of [
    [undefined, 1_000],
    [7, 7],
    [20_000, 10_000],
  ] as const) {
    asked.length = 0;
    const page = await lookupEntity(service, { ...request, pageSize });
    assert.equal(page.entityIds.length, limit);
    assert.equal(asked[0]?.limit, limit);
    const { continuousToken } = page;
    const next = await lookupEntity(service, { ...request, pageSize, continuousToken });
    assert.deepEqual(next.entityIds[0], idOf(limit));
    assert.equal(asked[1]?.snapToken, "state 1");
    assert.equal(asked[1]?.schemaVersion, versionOf(1));
  }
});

test("history that is gone is wrong with the token of a page, and of a stream", async () => {
  const { service } = streaming(30_000);
  const { continuousToken } = await lookupEntity(service, { ...request, pageSize: 5 });
  const stream = lookupEntityStream(service, request);
  const first = await stream.next();
  const gone = new PembaError("SNAP_TOKEN_EXPIRED", "metadata.snap_token: is too old");
  service.store.lookups.entities = async () => await Promise.reject(gone);
  const expected = {
    code: "SNAP_TOKEN_EXPIRED",
    message: /^ERROR_CODE_SNAP_TOKEN_EXPIRED: continuous_token: .* begin again/,
  };
  await assert.rejects(lookupEntity(service, { ...request, continuousToken }), expected);
  const behind = first.value?.[0]?.continuousToken ?? assert.fail("no result");
  await assert.rejects(all(service, { continuousToken: behind }), expected);
  await assert.rejects(rest(stream), expected);
  await assert.rejects(lookupEntity(service, request), gone);
});

test("a stream ends when its caller leaves, and its batches are cancelled", async () => {
  const { service, asked } = streaming(10_000);
  const leaving = new AbortController();
  const groups = lookupEntityStream(service, { ...request, signal: leaving.signal });
  await groups.next();
  leaving.abort();
  await assert.rejects(rest(groups), /^PembaError: ERROR_CODE_CANCELLED: /);
  assert.deepEqual(
    asked.map(({ signal }) => signal === leaving.signal),
    [true],
  );
});
