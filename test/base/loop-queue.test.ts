import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";

import { LoopQueue } from "../../src/base/loop-queue.ts";
import { connectionAccepted } from "../../src/base/loop-round.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { until } from "../store/open-write.ts";

const loud = "loud" as TenantId;
const quiet = "quiet" as TenantId;

test("of much work of one tenant most waits, and that of another tenant is next", async () => {
  const queue = new LoopQueue(2);
  const begun: string[] = [];
  const enter = (tenant: TenantId, name: string): void =>
    queue.enter({ tenant, begin: () => begun.push(name) });
  await nextRound();
  for (let nth = 0; nth < 9; nth++) enter(loud, `loud ${nth}`);
  enter(quiet, "quiet");
  assert.deepEqual(begun, ["loud 0", "loud 1"], "the others wait for later rounds");
  await until(async () => (begun.length === 10 ? true : undefined));
  assert.ok(begun.indexOf("quiet") <= 3, begun.join());
});

test("no more begins in a round than the limit", async () => {
  const queue = new LoopQueue(1);
  const rounds: number[] = [];
  let round = 0;
  const count = setInterval(() => undefined, 1_000);
  for (let nth = 0; nth < 5; nth++) {
    queue.enter({ tenant: loud, begin: () => rounds.push(round) });
  }
  while (rounds.length < 5) {
    round += 1;
    await nextRound();
  }
  clearInterval(count);
  assert.equal(new Set(rounds).size, 5);
});

test("work that was taken back does not begin", async () => {
  const queue = new LoopQueue(1);
  const begun: string[] = [];
  const left = { tenant: loud, begin: () => begun.push("left") };
  queue.wait(left);
  queue.wait({ tenant: loud, begin: () => begun.push("stayed") });
  queue.leave(left);
  await until(async () => (begun.length > 0 ? true : undefined));
  assert.deepEqual(begun, ["stayed"]);
});

test("work that waits lets connections go first, but not for ever", async () => {
  const queue = new LoopQueue(1);
  let rounds = 0;
  let begunAfter: number | undefined;
  connectionAccepted();
  queue.wait({ tenant: loud, begin: () => (begunAfter = rounds) });
  while (begunAfter === undefined) {
    rounds += 1;
    connectionAccepted();
    await nextRound();
  }
  assert.ok(begunAfter > 2, `it began after ${begunAfter} rounds`);
});

test("while connections come in, all work that waits goes on in the same rounds", async () => {
  const queues = [new LoopQueue(1), new LoopQueue(1), new LoopQueue(1)];
  const begun = [0, 0, 0];
  queues.forEach((queue, nth) => {
    const goOn = (): void => {
      const count = (begun[nth] ?? 0) + 1;
      begun[nth] = count;
      if (count < 3) queue.wait({ tenant: loud, begin: goOn });
    };
    queue.wait({ tenant: loud, begin: goOn });
  });
  while ((begun[0] ?? 0) < 3) {
    connectionAccepted();
    await nextRound();
  }
  connectionAccepted();
  await nextRound();
  assert.deepEqual(begun, [3, 3, 3]);
});
