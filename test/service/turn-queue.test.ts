import assert from "node:assert/strict";
import { test } from "node:test";

import { TurnQueue } from "../../src/service/turn-queue.ts";
import { fails } from "../store/engines.ts";

const refusal = "too many are here";

/** A piece of work that ends when it is told to, and the order in which such pieces begin. */
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
  const queue = new TurnQueue({ running: 2, waiting: 3, refusal });
  const { begun, work, end } = works(5);
  const results = work.map(async (each) => await queue.run(undefined, each));
  assert.deepEqual(begun, [0, 1]);
  end[1]?.();
  assert.equal(await results[1], 1);
  assert.deepEqual(begun, [0, 1, 2]);
  for (const done of end) done();
  assert.deepEqual(await Promise.all(results), [0, 1, 2, 3, 4]);
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
});

test("work that fails makes room, too", async () => {
  const queue = new TurnQueue({ running: 1, waiting: 1, refusal });
  const failing = queue.run(undefined, async () => await Promise.reject(new Error("no")));
  const next = queue.run(undefined, async () => 1);
  await assert.rejects(failing, { message: "no" });
  assert.equal(await next, 1);
  assert.equal(await queue.run(undefined, async () => 2), 2);
});

test("who comes when the queue is full is refused and changes nothing", async () => {
  const queue = new TurnQueue({ running: 1, waiting: 2, refusal });
  const { work, end, begun } = works(3);
  const results = work.map(async (each) => await queue.run(undefined, each));
  await fails(
    queue.run(undefined, async () => 0),
    "CONCURRENCY_LIMIT_EXCEEDED",
    refusal,
  );
  for (const done of end) done();
  assert.deepEqual(await Promise.all(results), [0, 1, 2]);
  assert.deepEqual(begun, [0, 1, 2]);
});

test("who leaves the queue is told, never begins, and makes room", async () => {
  const queue = new TurnQueue({ running: 1, waiting: 1, refusal });
  const { work, end, begun } = works(3);
  const [first, second, third] = work;
  assert.ok(first && second && third);
  const running = queue.run(undefined, first);
  const abort = new AbortController();
  const leaving = queue.run(abort.signal, second);
  abort.abort();
  await fails(leaving, "CANCELLED");
  await fails(queue.run(abort.signal, second), "CANCELLED");
  const last = queue.run(undefined, third);
  for (const done of end) done();
  assert.deepEqual(await Promise.all([running, last]), [0, 2]);
  assert.deepEqual(begun, [0, 2]);
});
