import assert from "node:assert/strict";
import { test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { ConcurrencyLimiter } from "../../src/store/layer/concurrency-limiter.ts";
import { fails } from "./engines.ts";

const refusal = "too many are here";
const [a, b, c] = ["a", "b", "c"] as TenantId[];

/** Work that ends on demand, and the order in which such work begins. */
function works(count: number): {
  readonly begun: number[];
  readonly work: readonly (() => Promise<number>)[];
  readonly end: readonly (() => void)[];
} {
  const begun: number[] = [];
  const ends = Array.from({ length: count }, () => Promise.withResolvers<void>());
  return {
    begun,
    work: ends.map(({ promise }, index) => async () => {
      begun.push(index);
      await promise;
      return index;
    }),
    end: ends.map(({ resolve }) => resolve),
  };
}

test("work begins in the order in which it came, so much at a time", async () => {
  const queue = new ConcurrencyLimiter({ running: 2, waiting: 3, refusal });
  const { begun, work, end } = works(5);
  const results = work.map(async (each) => await queue.run(a, undefined, each));
  assert.deepEqual(begun, [0, 1]);
  end[1]?.();
  assert.equal(await results[1], 1);
  assert.deepEqual(begun, [0, 1, 2]);
  for (const done of end) done();
  assert.deepEqual(await Promise.all(results), [0, 1, 2, 3, 4]);
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
});

test("work that fails makes room, too", async () => {
  const queue = new ConcurrencyLimiter({ running: 1, waiting: 1, refusal });
  const failing = queue.run(a, undefined, async () => await Promise.reject(new Error("no")));
  const next = queue.run(a, undefined, async () => 1);
  await assert.rejects(failing, { message: "no" });
  assert.equal(await next, 1);
  assert.equal(await queue.run(a, undefined, async () => 2), 2);
});

test("who comes when the queue is full is refused and changes nothing", async () => {
  const queue = new ConcurrencyLimiter({ running: 1, waiting: 2, refusal });
  const { work, end, begun } = works(3);
  const results = work.map(async (each) => await queue.run(a, undefined, each));
  await fails(
    queue.run(a, undefined, async () => 0),
    "CONCURRENCY_LIMIT_EXCEEDED",
    refusal,
  );
  for (const done of end) done();
  assert.deepEqual(await Promise.all(results), [0, 1, 2]);
  assert.deepEqual(begun, [0, 1, 2]);
});

test("a caller that leaves the queue fails, never begins, and makes room", async () => {
  const queue = new ConcurrencyLimiter({ running: 1, waiting: 1, refusal });
  const { work, end, begun } = works(3);
  const [first, second, third] = work;
  assert.ok(first && second && third);
  const running = queue.run(a, undefined, first);
  const abort = new AbortController();
  const leaving = queue.run(a, abort.signal, second);
  abort.abort();
  await fails(leaving, "CANCELLED");
  await fails(queue.run(a, abort.signal, second), "CANCELLED");
  const last = queue.run(a, undefined, third);
  for (const done of end) done();
  assert.deepEqual(await Promise.all([running, last]), [0, 2]);
  assert.deepEqual(begun, [0, 2]);
});

test("tenants alternate, and work of no tenant counts as one more tenant", async () => {
  const queue = new ConcurrencyLimiter({ running: 1, waiting: 10, refusal });
  const { work, end, begun } = works(9);
  const tenants = [a, a, a, a, b, b, undefined, undefined, c];
  const results = work.map(async (each, index) => await queue.run(tenants[index], undefined, each));
  for (const done of end) done();
  await Promise.all(results);
  assert.deepEqual(begun, [0, 1, 4, 6, 8, 2, 5, 7, 3]);
});

test("when the queue is full, the last of the tenant that has most there is refused for one that has less", async () => {
  const refusals: string[] = [];
  const queue = new ConcurrencyLimiter({
    running: 1,
    waiting: 4,
    refusal,
    watcher: { wait: async (begin) => await begin(), refused: () => refusals.push("refused") },
  });
  const { work, end, begun } = works(9);
  const abort = new AbortController();
  const tenants = [a, a, a, a, a, b, b, c, b];
  const results = work.map(
    async (each, index) => await queue.run(tenants[index], abort.signal, each),
  );
  // The fourth, third and second of tenant a are dropped, until it has no more entries than others.
  const ended = Promise.allSettled(results);
  for (const refused of [4, 3, 2, 8]) {
    await fails(results[refused] ?? assert.fail(), "CONCURRENCY_LIMIT_EXCEEDED", refusal);
  }
  assert.equal(refusals.length, 4);
  assert.deepEqual(queue.state, { running: 1, waiting: 4 });
  for (const done of end) done();
  await ended;
  assert.deepEqual(begun, [0, 1, 5, 7, 6]);
  assert.deepEqual(queue.state, { running: 0, waiting: 0 });
});

test("a tenant has a part of the places, and what it leaves is there for another one at once", async () => {
  const queue = new ConcurrencyLimiter({ running: 3, runningOfTenant: 2, waiting: 3, refusal });
  const { work, end, begun } = works(7);
  const tenants = [a, a, a, a, b, b];
  const results = work
    .slice(0, 6)
    .map(async (each, index) => await queue.run(tenants[index], undefined, each));
  assert.deepEqual(begun, [0, 1, 4]);
  // As many run and wait as the limits allow, of any tenants.
  await fails(
    queue.run(b, undefined, async () => 0),
    "CONCURRENCY_LIMIT_EXCEEDED",
    refusal,
  );
  end[4]?.();
  await results[4];
  assert.deepEqual(begun, [0, 1, 4, 5]);
  end[0]?.();
  await results[0];
  assert.deepEqual(begun, [0, 1, 4, 5, 2]);
  for (const done of end) done();
  await Promise.all(results);
  assert.deepEqual(queue.state, { running: 0, waiting: 0 });
});
